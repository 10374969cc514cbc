package projections

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Types of records.
const (
	creation         = 1
	beginProcessing  = 2
	endProcessing    = 3
	enqueue          = 4
	dequeue          = 5
	beginComputation = 6
	endComputation   = 7
	beginInterrupt   = 8
	endInterrupt     = 9
	messageReceived  = 10
	beginTrace       = 11
	endTrace         = 12
	userEvent        = 13
	beginIdle        = 14
	endIdle          = 15
	beginPack        = 16
	endPack          = 17
	beginUnpack      = 18
	endUnpack        = 19
	creationToAll    = 20
	creationToMany   = 21
	memoryUsage      = 24
	userSupplied     = 26
	memoryCurrent    = 27
	userNote         = 28
	bracketedNote    = 29
	endPhase         = 30
	userStat         = 32
	beginUserPair    = 98
	endUserPair      = 99
	userPair         = 100
)

// mostFields bounds how many numbers of a record are looked at; lists of receivers may be longer.
const mostFields = 16

// A record is a line: its type, the numbers after it, and where notes begin.
type record struct {
	kind   int
	n      int
	fields [mostFields]int64
	number [mostFields]float64
	text   []byte
}

// readLog passes the records of a log to f, which counts the lines that make none.
func readLog(ctx context.Context, in io.Reader, f func(*record, int64)) (cut bool, err error) {
	r := bufio.NewReaderSize(in, 256<<10)
	var rec record
	for line := int64(1); ; line++ {
		b, err := r.ReadSlice('\n')
		for long := errors.Is(err, bufio.ErrBufferFull); long; long = errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n') // a list of receivers: the needed fields are before it
		}
		if line%4096 == 1 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if line > 1 && len(bytes.TrimSpace(b)) > 0 {
			if err != nil && b[len(b)-1] != '\n' {
				return true, nil // the last line is not whole
			}
			if !rec.parse(b) {
				rec.kind = -1
			}
			f(&rec, line)
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		var packed *importer.Error
		if errors.As(err, &packed) && line > 1 {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// parse reads the numbers of a line.
func (r *record) parse(b []byte) bool {
	r.n = -1
	for r.n < mostFields {
		b = bytes.TrimLeft(b, " \t")
		end := bytes.IndexAny(b, " \t\r\n")
		if end < 0 {
			end = len(b)
		}
		if end == 0 {
			break
		}
		word := b[:end]
		v, err := strconv.ParseInt(string(word), 10, 64)
		if r.n < 0 {
			if err != nil || v < 0 || v > 1000 {
				return false
			}
			r.kind, r.n = int(v), 0
		} else {
			if r.fields[r.n], r.number[r.n] = v, float64(v); err != nil {
				x, err := strconv.ParseFloat(string(word), 64)
				if err != nil {
					break // a note
				}
				r.fields[r.n], r.number[r.n] = int64(x), x
			}
			r.n++
		}
		b = b[end:]
	}
	r.text = b
	return r.n >= 0
}

// time is a field in microseconds as ns.
func (r *record) time(i int) trace.Time { return trace.Time(r.fields[i]) * 1000 }
