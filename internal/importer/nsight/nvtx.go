package nsight

import (
	"bytes"
	"context"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// eventTypes are the numbers of NVTX's kinds of records. Files say their own.
type eventTypes struct{ category, mark, pushPop, startEnd, domain int64 }

var defaultEventTypes = eventTypes{category: 33, mark: 34, pushPop: 59, startEnd: 60, domain: 75}

func (e *eventTypes) learn(id int64, name string) {
	switch name {
	case "NvtxCategory":
		e.category = id
	case "NvtxMark":
		e.mark = id
	case "NvtxPushPopRange":
		e.pushPop = id
	case "NvtxStartEndRange":
		e.startEnd = id
	case "NvtxDomainCreate":
		e.domain = id
	}
}

// A rangeKey is the domain and the text of a range.
type rangeKey struct{ domain, text string }

// nvtx reads ranges and marks that programs and libraries set. Domains are named by records
// of the same table, so these are read first.
func (h *hostSide) nvtx(ctx context.Context) error {
	t := h.converter.table("NVTX_EVENTS")
	named := false // a first look at one column reports whether there are any
	err := t.look(ctx, func(r *sqlitefile.Row) error {
		kind, _ := r.Int(0)
		named = named || kind == h.marks.domain
		return nil
	}, "eventType")
	if err == nil && named {
		err = t.look(ctx, func(r *sqlitefile.Row) error {
			kind, _ := r.Int(0)
			thread, _ := r.Int(1)
			if id, ok := r.Int(2); ok && kind == h.marks.domain {
				h.domains[domain{processOf(thread), id}] = h.words(r, 3, 4)
			}
			return nil
		}, "eventType", "globalTid", "domainId", "text", "textId")
	}
	if err != nil {
		return err
	}
	return t.scan(ctx, h.event, "start", "end", "eventType", "globalTid", "domainId", "text", "textId",
		"uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "jsonText")
}

// words is a text that is in the row or in StringIds.
func (h *hostSide) words(r *sqlitefile.Row, text, id int) string {
	if b := r.Text(text); len(b) > 0 {
		return string(b)
	}
	n, _ := r.Int(id)
	return h.names[n]
}

// event adds one record of NVTX.
func (h *hostSide) event(r *sqlitefile.Row) error {
	begin, ok := r.Int(0)
	kind, _ := r.Int(2)
	thread, known := r.Int(3)
	switch kind {
	case h.marks.domain, h.marks.category:
		return nil // names of things
	case h.marks.mark, h.marks.pushPop, h.marks.startEnd:
	default:
		h.w.Report(trace.MissingIntervals, "NVTX records of other kinds than ranges and marks", 1, h.label)
		return nil
	}
	if !ok || !known {
		h.w.Report(trace.MissingIntervals, "NVTX ranges without a time or a thread", 1, h.label)
		return nil
	}
	id, _ := r.Int(4)
	op := torchOperator{}
	if text := r.Text(5); len(text) > 0 {
		op = operator(text)
	} else {
		op = h.namedOperator(r)
	}
	at := h.thread(thread)
	region := h.annotation(h.domains[domain{processOf(thread), id}], op)
	switch end, closed := r.Int(1); {
	case kind == h.marks.mark:
		at.Stream.Instant(h.time(begin), region)
	case closed:
		at.Stream.Interval(h.time(begin), h.time(end), region)
	default:
		at.Stream.Enter(h.time(begin), region)
	}
	if op.torch {
		if op.id >= 0 {
			at.Stream.Attribute(h.attribute.operator, trace.Integer(op.id))
		}
		if op.sequence >= 0 {
			at.Stream.Attribute(h.attribute.sequence, trace.Integer(op.sequence))
		}
		if len(op.sizes) > 0 {
			at.Stream.Attribute(h.attribute.sizes, trace.Text(string(op.sizes)))
		}
	}
	h.payload(at, r)
	return nil
}

// namedOperator reads the text of a range in StringIds, once for all ranges that have it.
func (h *hostSide) namedOperator(r *sqlitefile.Row) torchOperator {
	id, _ := r.Int(6)
	op, ok := h.operators[id]
	if !ok {
		op = operator([]byte(h.names[id]))
		h.operators[id] = op
	}
	return op
}

// payload adds the number or the text that a range carries.
func (h *hostSide) payload(at *row, r *sqlitefile.Row) {
	for i := 7; i <= 12; i++ {
		if r.Null(i) {
			continue
		}
		if i == 9 || i == 12 {
			v, _ := r.Number(i)
			at.Stream.Attribute(h.attribute.payload, trace.Number(v))
		} else {
			v, _ := r.Int(i)
			at.Stream.Attribute(h.attribute.payload, trace.Integer(v))
		}
		return
	}
	if b := r.Text(13); len(b) > 0 {
		at.Stream.Attribute(h.attribute.payload, trace.Text(string(b[:min(len(b), 4096)])))
	}
}

// annotation finds the region of a range. Domains of communication libraries name their calls;
// PyTorch's operators are work; all other ranges name a time range.
func (h *hostSide) annotation(domain string, op torchOperator) trace.RegionID {
	if id, ok := h.ranges[rangeKey{domain, string(op.name)}]; ok {
		return id
	}
	region := trace.Region{Name: string(op.name), Category: "nvtx", Role: trace.RoleAnnotation}
	switch {
	case region.Name == "":
		region.Name = "range without a name"
	case op.torch:
		region.Category, region.Role = "cpu_op", trace.RoleByName
	case domain == "MPI" || domain == "NCCL" || domain == "NVSHMEM" || domain == "UCX":
		region.Category, region.Role = domain, trace.RoleByName
	case bytes.HasPrefix(op.name, []byte("nccl")) || bytes.HasPrefix(op.name, []byte("MPI_")):
		region.Role = trace.RoleByName // of a domain whose name was not recorded
	case domain != "":
		region.Category = "nvtx: " + domain
	}
	id := h.w.Region(region)
	h.ranges[rangeKey{domain, string(op.name)}] = id
	return id
}

// A torchOperator is a range as torch.autograd.profiler.emit_nvtx names it:
// "aten::add, seq = 4, op_id = 12, sizes = [[2, 3], [3]]".
type torchOperator struct {
	name, sizes  []byte
	id, sequence int64
	torch        bool
}

// numbered reads the form of nearly all operators: a name, then one number or two. first is where the first "="
// stands. Looking from the end, as operator does for all others, is slow.
func (o *torchOperator) numbered(text []byte, first int) bool {
	if sequence, n := numberAfter(text[:first+1], text[first+1:], ", seq ="); n > 0 {
		rest := text[first+1+n:]
		if len(rest) == 0 {
			*o = torchOperator{name: text[:first-len(", seq ")], id: -1, sequence: sequence, torch: true}
			return true
		}
		at := bytes.IndexByte(rest, '=')
		if at != len(", op_id ") {
			return false
		}
		id, k := numberAfter(rest[:at+1], rest[at+1:], ", op_id =")
		if k == 0 || at+1+k != len(rest) {
			return false
		}
		*o = torchOperator{name: text[:first-len(", seq ")], id: id, sequence: sequence, torch: true}
		return true
	}
	id, n := numberAfter(text[:first+1], text[first+1:], ", op_id =")
	if n == 0 || first+1+n != len(text) {
		return false
	}
	*o = torchOperator{name: text[:first-len(", op_id ")], id: id, sequence: -1, torch: true}
	return true
}

// numberAfter reads " 12" if the text before it ends in key, and returns its length in bytes, else 0.
func numberAfter(before, text []byte, key string) (n int64, size int) {
	if len(before) < len(key) || string(before[len(before)-len(key):]) != key || len(text) < 2 || text[0] != ' ' {
		return 0, 0
	}
	i := 1
	for ; i < len(text) && i < 19 && text[i] >= '0' && text[i] <= '9'; i++ {
		n = n*10 + int64(text[i]-'0')
	}
	if i == 1 {
		return 0, 0
	}
	return n, i
}

// operator splits such a name; any other is all name.
func operator(text []byte) torchOperator {
	o := torchOperator{name: text, id: -1, sequence: -1}
	first := bytes.IndexByte(text, '=')
	if first < 0 || !bytes.Contains(text, []byte(" = ")) {
		return o // most ranges of programs
	}
	if o.numbered(text, first) && len(o.name) > 0 {
		return o
	}
	o = torchOperator{name: text, id: -1, sequence: -1}
	rest := text
	if at := bytes.Index(rest, []byte(", sizes = ")); at > 0 {
		o.sizes, rest = rest[at+len(", sizes = "):], rest[:at]
	}
	number := func(key string) int64 {
		at := bytes.LastIndex(rest, []byte(key))
		if at <= 0 {
			return -1
		}
		n, err := strconv.ParseInt(string(rest[at+len(key):]), 10, 64)
		if err != nil {
			return -1
		}
		rest = rest[:at]
		return n
	}
	o.id = number(", op_id = ")
	o.sequence = number(", seq = ")
	if o.torch = o.id >= 0 || o.sequence >= 0; o.torch {
		o.name = rest
	} else {
		o.sizes = nil
	}
	return o
}
