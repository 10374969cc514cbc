package mpe

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A field is one value that an event carries: "size=%d" is an integer of that name.
type field struct {
	name string
	kind byte
}

// fieldsOf reads a format string: words in front of each % name the value.
func fieldsOf(format string) (out []field) {
	for {
		before, after, ok := strings.Cut(format, "%")
		if !ok || after == "" {
			return out
		}
		out = append(out, field{fieldName(before), after[0]})
		format = after[1:]
	}
}

// fieldName takes the sign and the separators off the text before a value.
func fieldName(s string) string {
	if s = strings.Trim(s, " \t,;:=<>()[]"); s == "" {
		return "value"
	}
	return s
}

// values unpacks the fields that MPE packed, which are big-endian on every machine. It ends where the bytes do.
func values(fields []field, b []byte, each func(f field, v trace.Value)) {
	for _, f := range fields {
		size := 4
		switch f.kind {
		case 'h':
			size = 2
		case 'l', 'X', 'E':
			size = 8
		case 's':
			if len(b) < 2 {
				return
			}
			size = 2 + int(binary.BigEndian.Uint16(b))
		case 'd', 'x', 'e':
		default:
			return
		}
		if len(b) < size {
			return
		}
		var v trace.Value
		switch f.kind {
		case 's':
			v = trace.Text(strings.ToValidUTF8(string(text(b[2:size])), "\ufffd"))
		case 'h':
			v = trace.Integer(int64(int16(binary.BigEndian.Uint16(b))))
		case 'd', 'x':
			v = trace.Integer(int64(int32(binary.BigEndian.Uint32(b))))
		case 'l', 'X':
			v = trace.Integer(int64(binary.BigEndian.Uint64(b)))
		case 'e':
			v = trace.Number(float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
		case 'E':
			v = trace.Number(math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
		each(f, v)
		b = b[size:]
	}
}

// timeOf returns seconds in nanoseconds; false for values that are no time.
func timeOf(seconds float64) (trace.Time, bool) {
	if !(math.Abs(seconds) < 4e9) {
		return 0, false
	}
	return trace.Time(math.Round(seconds * 1e9)), true
}

// regionOf is the region of a state. The first MPE named calls of MPI without the prefix, in capitals.
func regionOf(name, colour string, mpi bool) trace.Region {
	r := trace.Region{Name: strings.ToValidUTF8(name, "\ufffd")}
	if mpi || strings.HasPrefix(name, "MPI_") ||
		oldCalls[strings.SplitN(name, "_", 2)[0]] && name == strings.ToUpper(name) {
		r.Category = "MPI"
		if !strings.HasPrefix(name, "MPI_") {
			r.Role = trace.RoleOf("MPI_"+name, "MPI")
		}
	}
	if colour != "" {
		r.Attributes = append(r.Attributes,
			trace.Attribute{Key: "colour", Value: trace.Text(strings.ToValidUTF8(colour, "\ufffd"))})
	}
	return r
}

var oldCalls = map[string]bool{
	"SEND": true, "BSEND": true, "SSEND": true, "RSEND": true, "ISEND": true, "IBSEND": true, "ISSEND": true,
	"IRSEND": true, "RECV": true, "IRECV": true, "SENDRECV": true,
	"WAIT": true, "WAITALL": true, "WAITANY": true, "WAITSOME": true, "TEST": true, "TESTALL": true, "TESTANY": true,
	"TESTSOME": true, "PROBE": true, "IPROBE": true, "START": true,
	"BARRIER": true, "BCAST": true, "REDUCE": true, "ALLREDUCE": true, "GATHER": true, "GATHERV": true,
	"ALLGATHER": true, "ALLGATHERV": true, "SCATTER": true, "SCATTERV": true,
	"ALLTOALL": true, "ALLTOALLV": true, "SCAN": true,
}
