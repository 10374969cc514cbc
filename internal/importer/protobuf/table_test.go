package protobuf

import (
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

type sample struct {
	yes     bool     `pb:"1"`
	small   int32    `pb:"2"`
	large   uint64   `pb:"3,13"`
	maybe   Integer  `pb:"4"`
	number  float64  `pb:"5"`
	text    string   `pb:"6"`
	data    []byte   `pb:"7"`
	either  Value    `pb:"8,9"`
	packed  []uint64 `pb:"10"`
	doubles Fixed64s `pb:"11"`
	inner   struct {
		names []string `pb:"1"`
	} `pb:"12"`
	parts  [][]byte `pb:"14"`
	rest   []Value  `pb:"15,16"`
	pieces []piece  `pb:"17"`
	times  []ticks  `pb:"18,fixed"`
	others Others
	own    int
}

type ticks int64

type piece struct {
	at    ticks   `pb:"1"`
	marks []ticks `pb:"2"`
}

func varint(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func text(b []byte, number protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
}

func fixed(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), v)
}

func encodedSample() []byte {
	b := varint(nil, 1, 1)
	b = varint(b, 2, math.MaxUint64-4) // -5
	b = varint(varint(b, 3, 70), 13, 1<<40)
	b = varint(b, 4, 0)
	b = fixed(b, 5, math.Float64bits(2.5))
	b = text(text(b, 6, "a"), 7, "b")
	b = text(varint(b, 8, 1), 9, "last")
	b = varint(text(b, 10, "\x01\x80\x01"), 10, 7)
	b = fixed(b, 11, 9)
	b = text(b, 12, string(text(text(nil, 1, "x"), 1, "y")))
	b = text(text(b, 14, "p"), 14, "q")
	b = text(varint(b, 16, 5), 15, "r")
	b = text(b, 17, string(varint(varint(nil, 1, 3), 2, 4)))
	b = text(fixed(b, 18, 6), 17, string(text(nil, 2, "\x05\x06")))
	b = text(b, 99, "unknown")   // counted
	b = varint(b, 98, 1)         // skipped
	b = text(b, 3, "wrong type") // skipped
	return b
}

func TestFieldsAreDecodedByTheirTags(t *testing.T) {
	got, ok := TableOf[sample]().Of(encodedSample())
	want := sample{yes: true, small: -5, large: 1 << 40, maybe: Integer{0, true}, number: 2.5, text: "a",
		data: []byte("b"), either: Value{Number: 9, Bytes: []byte("last")}, packed: []uint64{1, 128, 7},
		doubles: Fixed64s{9}, parts: [][]byte{[]byte("p"), []byte("q")},
		rest:   []Value{{Number: 16, Bits: 5}, {Number: 15, Bytes: []byte("r")}},
		pieces: []piece{{3, []ticks{4}}, {0, []ticks{5, 6}}}, times: []ticks{6}, others: 1}
	want.inner.names = []string{"x", "y"}
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %+v\nwant %+v", ok, got, want)
	}
}

func TestWholeFieldsOfABrokenMessageAreSet(t *testing.T) {
	table := TableOf[sample]()
	b := encodedSample()
	for n := range b {
		if got, ok := table.Of(b[:n]); ok != (got.own == 0 && whole(b[:n])) {
			t.Errorf("%d bytes: %v", n, ok)
		}
	}
	if got, ok := table.Of(text(varint(nil, 2, 3), 12, "\x0a\x05x")); ok || got.small != 3 {
		t.Errorf("a broken inner message: %v, %d", ok, got.small)
	}
}

// whole reports whether bytes are fields from the first to the last.
func whole(b []byte) bool {
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

func TestDecodingAllocatesNothingButLists(t *testing.T) {
	type plain struct {
		id   uint64 `pb:"3"`
		data []byte `pb:"7"`
	}
	table, b := TableOf[plain](), encodedSample()
	if n := testing.AllocsPerRun(100, func() {
		if p, _ := table.Of(b); p.id == 0 || p.data == nil {
			t.Error("fields are missing")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTypesThatNoFieldHasPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	TableOf[struct {
		f map[string]int `pb:"1"`
	}]()
}
