package finish

import (
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
)

// Facts of intervals come in the order of their rows, and their rows and keys are written once: these two columns are
// never plain. A job packs the frames that are wholly in it; facts before and after these wait for the neighbouring
// jobs.

// factTable is where table interval_fact is in the schema.
var factTable = tableAt("interval_fact")

// factKeys are rows and attributes of facts.
type factKeys struct {
	row       []uint64
	attribute []uint32
}

const factColumns = 2

func (k *factKeys) clear() { k.row, k.attribute = k.row[:0], k.attribute[:0] }

func (k *factKeys) append(x *factKeys) {
	k.row, k.attribute = append(k.row, x.row...), append(k.attribute, x.attribute...)
}

// pack packs the first n, from a whole frame on, and yields column by column.
func (k *factKeys) pack(n int, buf *packedPart, give func(column int, p *packedPart) error) error {
	for i, raw := range [factColumns][]byte{spool.BytesOf(k.row), spool.BytesOf(k.attribute)} {
		buf.bytes,
			buf.words = disk.Schema[factTable].Columns[i].PackFrames(buf.bytes[:0], buf.words[:0], raw, 0, uint64(n))
		if err := give(i, buf); err != nil {
			return err
		}
	}
	return nil
}

// jobFacts are those of one job.
type jobFacts struct {
	keys  factKeys // that are packed next; in the end those behind the last whole frame
	head  factKeys // before the first one
	most  int      // of keys
	led   bool     // keys begin a frame
	bytes [factColumns]spool.Spill
	words [factColumns][]uint32
	buf   packedPart
	err   error
}

func (e *jobFacts) init(temp string) {
	for k := range e.bytes {
		e.bytes[k] = spool.Spill{Dir: temp, Limit: jobBytes}
	}
}

// start is called with the number of the first fact.
func (e *jobFacts) start(at int64) {
	e.keys.clear()
	e.head.clear()
	e.err = nil
	e.most = int((pack.Frame - at%pack.Frame) % pack.Frame)
	if e.led = e.most == 0; e.led {
		e.most = framesAtOnce * pack.Frame
	}
}

func (e *jobFacts) add(row uint64, attribute uint32) {
	if len(e.keys.row) == e.most {
		e.flush()
	}
	e.keys.row, e.keys.attribute = append(e.keys.row, row), append(e.keys.attribute, attribute)
}

// flush packs the whole frames of keys.
func (e *jobFacts) flush() {
	if !e.led {
		e.head, e.keys = e.keys, e.head
		e.led, e.most = true, framesAtOnce*pack.Frame
		return
	}
	n := len(e.keys.row) / pack.Frame * pack.Frame
	if n == 0 {
		return
	}
	err := e.keys.pack(n, &e.buf, func(k int, p *packedPart) error {
		e.words[k] = append(e.words[k], p.words...)
		return e.bytes[k].Write(p.bytes)
	})
	if e.err == nil {
		e.err = err
	}
	e.keys.row = append(e.keys.row[:0], e.keys.row[n:]...)
	e.keys.attribute = append(e.keys.attribute[:0], e.keys.attribute[n:]...)
}

func (e *jobFacts) finish() error {
	e.flush()
	return e.err
}

func (e *jobFacts) close() {
	for k := range e.bytes {
		e.bytes[k].Close()
	}
}

// A factPacker writes both columns, job by job.
type factPacker struct {
	columns [factColumns]*disk.ColumnWriter
	rest    factKeys // begin the next frame
	count   int64
	buf     packedPart
}

func (p *factPacker) init(dir string) {
	for k := range p.columns {
		p.columns[k] = disk.NewColumnWriter(dir, disk.Schema[factTable].Columns[k].File(), "")
	}
}

// take takes the facts of the job whose turn it is.
func (p *factPacker) take(e *jobFacts) error {
	p.rest.append(&e.head)
	if len(p.rest.row) == pack.Frame {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if len(e.words[0]) > 0 {
		p.count += int64(len(e.words[0])) * pack.Frame
		for k, c := range p.columns {
			if err := c.Drain(&e.bytes[k], e.words[k]); err != nil {
				return err
			}
			e.words[k] = e.words[k][:0]
		}
	}
	p.rest.append(&e.keys)
	return nil
}

// flush packs the waiting facts.
func (p *factPacker) flush() error {
	if len(p.rest.row) == 0 {
		return nil
	}
	p.count += int64(len(p.rest.row))
	err := p.rest.pack(len(p.rest.row), &p.buf, func(k int, x *packedPart) error {
		return p.columns[k].Append(x.bytes, x.words)
	})
	p.rest.clear()
	return err
}

func (p *factPacker) close(err error) error {
	for _, c := range p.columns {
		if c != nil {
			err = c.Close(err)
		}
	}
	return err
}

// describeFacts describes table interval_fact.
func (f *finisher) describeFacts() error {
	for k := range disk.Schema[factTable].Columns {
		name := disk.Schema[factTable].Columns[k].File()
		if f.described.known(name) {
			continue
		}
		e, err := disk.DescribeFile(f.Dir, name)
		if err != nil {
			return err
		}
		if k < factColumns {
			e.Values = f.facts
		}
		f.described.set(e)
	}
	return nil
}
