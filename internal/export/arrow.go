package export

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"unsafe"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/parallax-hpc/parallax/internal/table"
)

// Arrow's interprocess format, for notebooks: a schema, then batches of columns, each a
// message of metadata (a flatbuffer) and a body of buffers. A stream ends with an empty
// message; a file has a magic word around the stream and a footer that lists the batches.
// Written here for our four types of columns: the library for all of Arrow would add some
// 7 MB to the program. Layout: format/Message.fbs, Schema.fbs and File.fbs of Arrow.

// Numbers of Arrow's schemas.
const (
	arrowVersion5 = 4 // MetadataVersion.V5

	arrowSchema, arrowDictionaryBatch, arrowRecordBatch = 1, 2, 3 // MessageHeader

	arrowInt, arrowFloat, arrowText = 2, 3, 5 // Type

	arrowDouble = 2 // Precision
)

const arrowMagic = "ARROW1"

var arrowContinues = [4]byte{0xff, 0xff, 0xff, 0xff}

// An ArrowForm is how batches are written.
type ArrowForm uint8

// The forms. In one with dictionaries each batch is preceded by the strings of its columns, each once; a file has none,
// since there they could not change from batch to batch.
const (
	ArrowFile ArrowForm = iota
	ArrowStream
	ArrowDictionaries
)

// WriteArrow writes the batches that a function yields. It encodes a batch by encode, which several goroutines may
// call at once, and writes the results by write, in the order of the rows.
func WriteArrow(w io.Writer, columns []table.Column, form ArrowForm,
	each func(encode func(*table.Batch) (*ArrowBatches, error), write func(*ArrowBatches) error) error) error {
	a := &arrowWriter{w: w, columns: columns}
	e := arrowEncoder{columns: columns, dictionaries: form == ArrowDictionaries}
	asFile := form == ArrowFile
	if asFile {
		a.write([]byte(arrowMagic + "\x00\x00"))
	}
	e.message(arrowSchema, 0, e.schema)
	a.write(e.out)
	err := each(func(b *table.Batch) (*ArrowBatches, error) {
		e, _ := arrowEncoders.Get().(*arrowEncoder)
		if e == nil {
			e = &arrowEncoder{}
		}
		*e = arrowEncoder{columns: columns, dictionaries: form == ArrowDictionaries, out: e.out[:0], body: e.body[:0]}
		for from := 0; from < b.Rows && e.err == nil; from += arrowRows {
			e.batch(b, from, min(from+arrowRows, b.Rows))
		}
		return &ArrowBatches{e}, e.err
	}, a.batches)
	if err != nil {
		return err
	}
	a.write(arrowContinues[:])
	a.write(make([]byte, 4))
	if asFile {
		a.footer()
	}
	return a.err
}

// InTurn encodes and writes one batch after the other, for WriteArrow.
func InTurn(each func(emit func(*table.Batch) error) error) func(encode func(*table.Batch) (*ArrowBatches, error),
	write func(*ArrowBatches) error) error {
	return func(encode func(*table.Batch) (*ArrowBatches, error), write func(*ArrowBatches) error) error {
		return each(func(b *table.Batch) error {
			encoded, err := encode(b)
			if err != nil {
				return err
			}
			return write(encoded)
		})
	}
}

// ArrowBatches are batches as bytes.
type ArrowBatches struct{ of *arrowEncoder }

// arrowEncoders keep the memory of batches that were written.
var arrowEncoders sync.Pool

// arrowRows is the number of rows that a batch has: readers hold one at a time.
const arrowRows = 1 << 16

// An arrowWriter puts messages one after the other.
type arrowWriter struct {
	w       io.Writer
	columns []table.Column
	at      int64
	err     error
	blocks  []arrowBlock
}

// An arrowEncoder makes messages of batches.
type arrowEncoder struct {
	columns []table.Column
	// dictionaries says that strings of a batch are written once, before it.
	dictionaries bool
	out          []byte
	err          error
	blocks       []arrowBlock // in out

	body    []byte
	buffers [][2]int64 // offset in the body and length, of each
	nodes   [][2]int64 // values and nulls, of each column
	words   wordCache
}

// An arrowBlock is where a batch is in the file.
type arrowBlock struct{ offset, metadata, body int64 }

func (a *arrowWriter) write(b []byte) {
	if a.err == nil {
		var n int
		n, a.err = a.w.Write(b)
		a.at += int64(n)
	}
}

// batches writes encoded batches; their memory is used again.
func (a *arrowWriter) batches(b *ArrowBatches) error {
	for _, x := range b.of.blocks {
		a.blocks = append(a.blocks, arrowBlock{a.at + x.offset, x.metadata, x.body})
	}
	a.write(b.of.out)
	arrowEncoders.Put(b.of)
	return a.err
}

// message appends metadata whose header build makes, with its length before it.
func (a *arrowEncoder) message(kind byte, body int64,
	build func(*flatbuffers.Builder) flatbuffers.UOffsetT) (length int64) {
	f := flatbuffers.NewBuilder(1024)
	header := build(f)
	f.StartObject(4)
	f.PrependInt16Slot(0, arrowVersion5, 0)
	f.PrependByteSlot(1, kind, 0)
	f.PrependUOffsetTSlot(2, header, 0)
	f.PrependInt64Slot(3, body, 0)
	f.Finish(f.EndObject())
	text := f.FinishedBytes()
	padded := (len(text) + 7) &^ 7
	a.out = append(a.out, arrowContinues[:]...)
	a.out = binary.LittleEndian.AppendUint32(a.out, uint32(padded))
	a.out = append(a.out, text...)
	a.out = append(a.out, make([]byte, padded-len(text))...)
	return int64(8 + padded)
}

func (a *arrowEncoder) schema(f *flatbuffers.Builder) flatbuffers.UOffsetT {
	var fields []flatbuffers.UOffsetT
	for i, c := range a.columns {
		fields = append(fields, arrowField(f, &c, i, a.dictionaries && c.Kind == table.Text))
	}
	list := offsets(f, fields)
	f.StartObject(2) // little endian, which is 0
	f.PrependUOffsetTSlot(1, list, 0)
	return f.EndObject()
}

// arrowField describes column i.
func arrowField(f *flatbuffers.Builder, c *table.Column, i int, dictionary bool) flatbuffers.UOffsetT {
	name, unit, key := f.CreateString(c.Name), flatbuffers.UOffsetT(0), flatbuffers.UOffsetT(0)
	if c.Unit != "" {
		key, unit = f.CreateString("unit"), f.CreateString(c.Unit)
	}
	kind := byte(arrowInt)
	switch c.Kind {
	case table.Text:
		kind = arrowText
		f.StartObject(0)
	case table.Number:
		kind = arrowFloat
		f.StartObject(1)
		f.PrependInt16Slot(0, arrowDouble, 0)
	default:
		f.StartObject(2)
		f.PrependInt32Slot(0, 64, 0)
		f.PrependBoolSlot(1, true, false)
	}
	typ := f.EndObject()
	children := offsets(f, nil)
	var facts flatbuffers.UOffsetT
	if unit != 0 {
		f.StartObject(2)
		f.PrependUOffsetTSlot(0, key, 0)
		f.PrependUOffsetTSlot(1, unit, 0)
		facts = offsets(f, []flatbuffers.UOffsetT{f.EndObject()})
	}
	var encoding flatbuffers.UOffsetT
	if dictionary {
		f.StartObject(2)
		f.PrependInt32Slot(0, 32, 0)
		f.PrependBoolSlot(1, true, false)
		index := f.EndObject()
		f.StartObject(4)
		f.PrependInt64Slot(0, int64(i), 0)
		f.PrependUOffsetTSlot(1, index, 0)
		encoding = f.EndObject()
	}
	f.StartObject(7)
	f.PrependUOffsetTSlot(0, name, 0)
	f.PrependBoolSlot(1, c.Null, false)
	f.PrependByteSlot(2, kind, 0)
	f.PrependUOffsetTSlot(3, typ, 0)
	f.PrependUOffsetTSlot(4, encoding, 0)
	f.PrependUOffsetTSlot(5, children, 0)
	f.PrependUOffsetTSlot(6, facts, 0)
	return f.EndObject()
}

func offsets(f *flatbuffers.Builder, list []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	f.StartVector(4, len(list), 4)
	for i := len(list) - 1; i >= 0; i-- {
		f.PrependUOffsetT(list[i])
	}
	return f.EndVector(len(list))
}

// batch writes rows from … to of a batch.
func (a *arrowEncoder) batch(b *table.Batch, from, to int) {
	codes := make([][]int32, len(b.Columns))
	for i := range b.Columns {
		if v := &b.Columns[i]; a.dictionaries && v.Kind == table.Text {
			var words table.Vector
			words, codes[i] = a.encoded(v, from, to)
			a.reset()
			a.column(&words, 0, len(words.Texts))
			a.message(arrowDictionaryBatch, int64(len(a.body)), func(f *flatbuffers.Builder) flatbuffers.UOffsetT {
				data := a.recordBatch(f, len(words.Texts))
				f.StartObject(3)
				f.PrependInt64Slot(0, int64(i), 0)
				f.PrependUOffsetTSlot(1, data, 0)
				return f.EndObject()
			})
			a.out = append(a.out, a.body...)
		}
	}
	a.reset()
	for i := range b.Columns {
		if codes[i] != nil {
			a.codes(&b.Columns[i], codes[i], from, to)
		} else {
			a.column(&b.Columns[i], from, to)
		}
	}
	at := int64(len(a.out))
	length := a.message(arrowRecordBatch, int64(len(a.body)),
		func(f *flatbuffers.Builder) flatbuffers.UOffsetT { return a.recordBatch(f, to-from) })
	a.out = append(a.out, a.body...)
	a.blocks = append(a.blocks, arrowBlock{at, length, int64(len(a.body))})
}

func (a *arrowEncoder) reset() { a.body, a.buffers, a.nodes = a.body[:0], a.buffers[:0], a.nodes[:0] }

// recordBatch describes the buffers that are in the body.
func (a *arrowEncoder) recordBatch(f *flatbuffers.Builder, rows int) flatbuffers.UOffsetT {
	nodes, buffers := pairs(f, a.nodes), pairs(f, a.buffers)
	f.StartObject(4)
	f.PrependInt64Slot(0, int64(rows), 0)
	f.PrependUOffsetTSlot(1, nodes, 0)
	f.PrependUOffsetTSlot(2, buffers, 0)
	return f.EndObject()
}

// A wordCache holds codes of strings by where their bytes are: nearly all strings of a column are the same few strings.
type wordCache [512]struct {
	at   *byte
	size int
	code int32
}

// encoded returns the strings of some rows, each once, and which of them each row has.
func (a *arrowEncoder) encoded(v *table.Vector, from, to int) (words table.Vector, codes []int32) {
	words, codes = table.Vector{Kind: table.Text}, make([]int32, to-from)
	numbers := map[string]int32{}
	clear(a.words[:])
	for i, x := range v.Texts[from:to] {
		at := unsafe.StringData(x)
		slot := &a.words[(uintptr(unsafe.Pointer(at))>>3^uintptr(len(x)))%uintptr(len(a.words))]
		if slot.at != at || slot.size != len(x) || at == nil {
			n, known := numbers[x]
			if !known {
				n = int32(len(words.Texts))
				numbers[x], words.Texts = n, append(words.Texts, x)
			}
			slot.at, slot.size, slot.code = at, len(x), n
		}
		codes[i] = slot.code
	}
	clear(a.words[:]) // it keeps no text alive
	return words, codes
}

// codes appends the buffers of a column of strings that a dictionary has.
func (a *arrowEncoder) codes(v *table.Vector, codes []int32, from, to int) {
	a.validity(v, from, to)
	at := a.begin()
	out := a.space(4 * len(codes))
	for i, x := range codes {
		binary.LittleEndian.PutUint32(out[4*i:], uint32(x))
	}
	a.end(at)
}

// pairs is a vector of structs of two int64.
func pairs(f *flatbuffers.Builder, list [][2]int64) flatbuffers.UOffsetT {
	f.StartVector(16, len(list), 8)
	for i := len(list) - 1; i >= 0; i-- {
		f.PrependInt64(list[i][1])
		f.PrependInt64(list[i][0])
	}
	return f.EndVector(len(list))
}

// column appends the buffers of a column: which values are there; where strings end; the values.
func (a *arrowEncoder) column(v *table.Vector, from, to int) {
	a.validity(v, from, to)
	at := a.begin()
	switch v.Kind {
	case table.Number:
		out := a.space(8 * (to - from))
		for i, x := range v.Numbers[from:to] {
			binary.LittleEndian.PutUint64(out[8*i:], math.Float64bits(x))
		}
	case table.Text:
		n := 0
		a.body = binary.LittleEndian.AppendUint32(a.body, 0)
		for _, x := range v.Texts[from:to] {
			if n += len(x); n > math.MaxInt32 && a.err == nil {
				a.err = errors.New("arrow: strings of more than 2 GB in 65,536 rows")
			}
			a.body = binary.LittleEndian.AppendUint32(a.body, uint32(n))
		}
		a.end(at)
		at = a.begin()
		for _, x := range v.Texts[from:to] {
			a.body = append(a.body, x...)
		}
	default:
		out := a.space(8 * (to - from))
		for i, x := range v.Integers[from:to] {
			binary.LittleEndian.PutUint64(out[8*i:], uint64(x))
		}
	}
	a.end(at)
}

// validity appends which values of a column are there, a bit each, and counts them.
func (a *arrowEncoder) validity(v *table.Vector, from, to int) {
	nulls := int64(0)
	there := a.begin()
	if v.Null != nil {
		a.body = append(a.body, make([]byte, (to-from+7)/8)...)
		for i := from; i < to; i++ {
			if v.Null[i] {
				nulls++
			} else {
				a.body[there+(i-from)/8] |= 1 << ((i - from) % 8)
			}
		}
	}
	a.end(there)
	a.nodes = append(a.nodes, [2]int64{int64(to - from), nulls})
}

// space appends n bytes to the body and returns them, to be overwritten.
func (a *arrowEncoder) space(n int) []byte {
	at := len(a.body)
	a.body = slices.Grow(a.body, n)[:at+n]
	return a.body[at:]
}

func (a *arrowEncoder) begin() int { return len(a.body) }

// end lists the buffer that began at a place, and pads the body.
func (a *arrowEncoder) end(at int) {
	a.buffers = append(a.buffers, [2]int64{int64(at), int64(len(a.body) - at)})
	a.body = append(a.body, make([]byte, -len(a.body)&7)...)
}

func (a *arrowWriter) footer() {
	f := flatbuffers.NewBuilder(1024)
	schema := (&arrowEncoder{columns: a.columns}).schema(f)
	f.StartVector(24, len(a.blocks), 8)
	for i := len(a.blocks) - 1; i >= 0; i-- {
		b := &a.blocks[i]
		f.Prep(8, 24)
		f.PrependInt64(b.body)
		f.Pad(4)
		f.PrependInt32(int32(b.metadata))
		f.PrependInt64(b.offset)
	}
	blocks := f.EndVector(len(a.blocks))
	f.StartVector(24, 0, 8)
	dictionaries := f.EndVector(0)
	f.StartObject(5)
	f.PrependInt16Slot(0, arrowVersion5, 0)
	f.PrependUOffsetTSlot(1, schema, 0)
	f.PrependUOffsetTSlot(2, dictionaries, 0)
	f.PrependUOffsetTSlot(3, blocks, 0)
	f.Finish(f.EndObject())
	a.write(f.FinishedBytes())
	a.write(binary.LittleEndian.AppendUint32(nil, uint32(len(f.FinishedBytes()))))
	a.write([]byte(arrowMagic))
}
