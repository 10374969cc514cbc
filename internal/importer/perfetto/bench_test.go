package perfetto

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// field appends a field: a number, a text or a message.
func field(b []byte, number protowire.Number, v any) []byte {
	switch v := v.(type) {
	case uint64:
		return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
	case int:
		return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(v))
	case string:
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
	}
	panic(fmt.Sprintf("a field of type %T", v))
}

// generate makes a trace like the SDK's: threads that each write a sequence with
// interned names, differences of time, nested slices, and here and there an
// annotation or a counter. slices are in all.
func generate(threads, slices int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var out []byte
	put := func(sequence int, packet []byte) {
		packet = field(packet, packetSequence, sequence)
		packet = field(packet, 79, 1000)
		out = field(out, 1, packet)
	}
	process := field(field(nil, 1, 1), 3, field(field(nil, 1, 100), 6, "app"))
	put(1, field(nil, packetTrack, process))
	put(1, field(nil, packetTrack, field(field(field(field(nil, 1, 2), 5, 1), 2, "load"), 8, []byte{})))
	depth := make([]int, threads)
	for t := range threads {
		snapshot := field(field(nil, 1, field(field(nil, 1, clockBoot), 2, 1_000_000)), 1, field(field(field(nil, 1, 64), 2, 1_000_000), 3, 1))
		defaults := field(field(nil, packetClock, 64), packetEvent, field(nil, eventTrack, 10+t))
		put(2+t, field(field(field(nil, packetCleared, 1), packetClocks, snapshot), packetDefaults, defaults))
		thread := field(field(field(nil, 1, 10+t), 5, 1), 4, field(field(field(nil, 1, 100), 2, 101+t), 5, fmt.Sprint("worker ", t)))
		put(2+t, field(nil, packetTrack, thread))
		var names []byte
		for i := range 200 {
			names = field(names, internedNames, field(field(nil, 1, i+1), 2, fmt.Sprintf("solver::step<%d>(double const*, std::size_t)", i)))
		}
		names = field(names, internedCategories, field(field(nil, 1, 1), 2, "app"))
		names = field(names, internedKeys, field(field(nil, 1, 1), 2, "bytes"))
		put(2+t, field(nil, packetInterned, names))
	}
	for n := 0; n < slices; {
		t := random.IntN(threads)
		for range 64 { // a chunk of the recorder's buffer
			packet := field(field(nil, packetTime, random.IntN(2000)), packetFlags, flagNeeds)
			var event []byte
			if depth[t] > 0 && (depth[t] >= 6 || random.IntN(2) == 0) {
				depth[t]--
				event = field(nil, eventType, typeEnd)
			} else {
				depth[t]++
				n++
				event = field(field(field(nil, eventType, typeBegin), eventCategoryIDs, 1), eventNameID, 1+random.IntN(200))
				if n%4 == 0 {
					event = field(event, eventAnnotation, field(field(nil, noteKeyID, 1), noteUint, random.IntN(1<<20)))
				}
			}
			put(2+t, field(packet, packetEvent, event))
			if n%16 == 0 {
				put(2+t, field(field(nil, packetTime, 1), packetEvent, field(field(field(nil, eventType, typeCounter), eventTrack, 2), eventCounter, random.IntN(1000))))
			}
		}
	}
	return out
}

// BenchmarkImport prints how many megabytes a second one core takes, beside the
// time of a loop that only walks the fields of all packets: ratio 1 is as fast.
func BenchmarkImport(b *testing.B) {
	b.Run("generated", func(b *testing.B) { benchmark(b, generate(16, 1_000_000)) })
	b.Run("omnitrace", func(b *testing.B) {
		data, err := os.ReadFile(importertest.Shared(b, "public/perfetto/omnitrace-mpi-4ranks/mpi-binary-rewrite-0.proto"))
		if err != nil {
			b.Fatal(err)
		}
		benchmark(b, bytes.Repeat(data, 200))
	})
}

func benchmark(b *testing.B, data []byte) {
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x": {Data: data}})
	if err != nil {
		b.Fatal(err)
	}
	run := importer.ClaimAs(Format, s)[0]
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var walk, whole float64
	var walked, packets int
	for b.Loop() {
		begin := benchtest.CPUTime().Seconds()
		in := newPackets(context.Background(), bytes.NewReader(data))
		packets = 0
		for body, _, err := in.next(); err == nil; body, _, err = in.next() {
			packets++
			m := protobuf.Open(body)
			for ; m.Small() || m.Next(); walked++ {
				if m.Number == packetEvent {
					e := protobuf.Open(m.Bytes)
					for ; e.Small() || e.Next(); walked++ {
					}
				}
			}
		}
		middle := benchtest.CPUTime().Seconds()
		if err := run.Import(context.Background(), importertest.NewCount()); err != nil {
			b.Fatal(err)
		}
		walk += middle - begin
		whole += benchtest.CPUTime().Seconds() - middle
	}
	b.ReportMetric(walk/whole, "ratio")
	b.ReportMetric(float64(len(data))*float64(b.N)/whole/1e6, "MB/cpu-s")
	b.ReportMetric(whole/float64(b.N)/float64(packets)*1e9, "ns/packet")
}
