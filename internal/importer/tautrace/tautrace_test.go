package tautrace

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Traces are flushed a buffer at a time, so a file may end after any record.
func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "merged", Anywhere: true}, {Path: "threads", Anywhere: true, ByName: true, Cuts: 80}})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, Format, "x.trc", "testdata/merged") }

// FuzzRecords changes the records, or the events that name them.
func FuzzRecords(f *testing.F) {
	importertest.FuzzBeside(f, Format, "testdata/threads", "tautrace.0.0.0.trc", "tautrace.2.0.0.trc", "events.0.edf")
}

// What TAU's own reader (tau_trace2json) tells of the merged trace: 125 entries and exits, 96 values of user
// events, of which 48 are zeros around others, 24 sends and receives, five threads, six functions.
func TestCountsAreThoseOfTAUsReader(t *testing.T) {
	for _, set := range []string{"testdata/merged", "testdata/threads"} {
		w := importertest.CountOf(t, Format, set)
		got := fmt.Sprint(w.Enters, w.Leaves, w.Samples, w.Links[trace.LinkMessage], len(w.Locations), len(w.Regions), w.Reported)
		if want := fmt.Sprint(125, 125, 48, 24, 4+5, 6, map[string]int64{"skipped zeros that TAU writes around each value of a user event": 48}); got != want {
			t.Errorf("%s: entries, exits, values, messages, locations, regions, report %s, want %s", set, got, want)
		}
	}
}

var layouts = []layout{{binary.LittleEndian, false}, {binary.BigEndian, false}, {binary.LittleEndian, true}, {binary.BigEndian, true}}

const eventsText = "11 dynamic_trace_events\n# FunctionId Group Tag \"Name Type\" Parameters\n" +
	"1 TAU_USER 0 \"a \"quoted\" name [{a.c} {3,1}-{4,2}]\" EntryExit\n2 TAUEVENT 1 \"bytes\" TriggerValue\n" +
	"60000 TRACER 0 \"EV_INIT\" none\n60005 TRACER 0 \"WALL_CLOCK\" none\n60007 TAU_MESSAGE -7 \"MESSAGE_SEND\" par\n60008 TAU_MESSAGE -8 \"MESSAGE_RECV\" par\n" +
	"70000 TAUEVENT 0 \"ONESIDED_MESSAGE_SEND\" TriggerValue\n70001 TAUEVENT 0 \"ONESIDED_MESSAGE_RECV\" TriggerValue\n" +
	"70002 TAUEVENT 0 \"ONESIDED_MESSAGE_ID_TriggerValueT1\" TriggerValue\n70003 TAUEVENT 0 \"ONESIDED_MESSAGE_ID_TriggerValueT2\" TriggerValue\n"

// encode writes records as the structures TAU_EV32 and TAU_EV64 of TAU's headers lie in memory.
func encode(l layout, list []record) []byte {
	var b bytes.Buffer
	put := func(v any) { binary.Write(&b, l.order, v) }
	for _, r := range list {
		if l.wide {
			put(r.event)
		} else {
			put(int32(r.event))
		}
		put(r.node)
		put(r.thread)
		if l.wide {
			put(uint32(0xdeadbeef)) // padding is not written on purpose
		}
		put(r.parameter)
		put(r.time)
	}
	return b.Bytes()
}

// packed is how TAU packs a message, from the description in its source.
func packed(other, tag, length, comm uint64) int64 {
	return int64(length>>16<<54>>22 | tag>>8&0xff<<48 | other>>8&0xff<<56 | length&0xffff | tag&0xff<<16 | other&0xff<<24 | comm<<58>>16)
}

// ring is a few records of two nodes.
func ring(rounds int) []record {
	list := []record{{event: 60000, parameter: 3, time: 10}, {event: 60005, parameter: 1700000000, time: 10}}
	for i := range uint64(rounds) {
		t := 20 + 10*i
		list = append(list,
			record{event: 1, parameter: 1, time: t}, record{event: 60007, parameter: packed(1, 0x1234, 0x2beef00, 5), time: t + 1}, record{event: 1, parameter: -1, time: t + 2},
			record{event: 60008, node: 1, parameter: packed(0, 0x1234, 0x2beef00, 5), time: t + 3})
	}
	return list
}

type links struct {
	*importertest.Count
	list []string
}

func (l *links) Link(k trace.Link) {
	l.list = append(l.list, fmt.Sprintf("%s/%d→%s/%d tag %#x size %#x", l.name(k.From.Location), k.From.Time, l.name(k.To.Location), k.To.Time, k.Tag, k.Size))
}

func (l *links) name(id trace.LocationID) string {
	at := l.Locations[id]
	return strings.TrimPrefix(l.Locations[at.Parent].Name, "node ") + "." + at.Key
}

func importMade(t *testing.T, files fstest.MapFS) (*links, error) {
	t.Helper()
	s, err := importer.NewSourceFS("made", files)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	w := &links{Count: importertest.NewCount()}
	return w, runs[0].Import(context.Background(), w)
}

// Numbers of messages are packed in pieces; both widths and byte orders hold the same records.
func TestAllLayoutsHoldTheSameMessages(t *testing.T) {
	for _, l := range layouts {
		w, err := importMade(t, fstest.MapFS{"x.trc": {Data: encode(l, ring(2))}, "tau.edf": {Data: []byte(eventsText)}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(w.list, w.Enters, w.Leaves), "[0.0/21000→1.0/23000 tag 0x1234 size 0x2beef00 0.0/31000→1.0/33000 tag 0x1234 size 0x2beef00] 2 2"; got != want {
			t.Errorf("%v: %s, want %s", l, got, want)
		}
		if r := w.Regions[0]; r.Name != `a "quoted" name` || r.File != "a.c" || r.Line != 3 || w.Properties["start"] != "2023-11-14T22:13:20Z" {
			t.Errorf("region %+v, properties %v", r, w.Properties)
		}
	}
}

// A value of a user event is written between zeros; values that merely begin with a zero are kept.
func TestZerosAroundValuesAreLeftOut(t *testing.T) {
	list := []record{{event: 60000, parameter: 3, time: 1}}
	add := func(values ...int64) {
		for _, v := range values {
			list = append(list, record{event: 2, parameter: v, time: uint64(len(list))})
		}
		list = append(list, record{event: 1, parameter: 1, time: uint64(len(list))})
	}
	add(0, 5, 0)          // one value
	add(0, 0, 0)          // one value, zero
	add(0, 7)             // two values
	add(8, 0, 9, 0, 0, 1) // 8; 9; 0 and 1
	w, err := importMade(t, fstest.MapFS{"x.trc": {Data: encode(layouts[0], list)}, "tau.edf": {Data: []byte(eventsText)}})
	if err != nil || w.Samples != 1+1+2+4 {
		t.Errorf("%d values, want 8; %v", w.Samples, err)
	}
}

// Copies to a GPU are told by three records on both sides, with one id.
func TestOneSidedMessagesAreJoinedByTheirID(t *testing.T) {
	list := []record{{event: 60000, parameter: 3, time: 1}}
	for i, r := range []record{{event: 70000}, {event: 70001, thread: 1}, {event: 70001, thread: 2}} {
		for j, event := range []int64{r.event, 70002, 70003} {
			id := int64(40 + j)
			if i == 2 {
				id++ // nobody began this one
			}
			list = append(list, record{event: event, thread: r.thread, parameter: id, time: uint64(10 * (i + 1))})
		}
	}
	w, err := importMade(t, fstest.MapFS{"x.trc": {Data: encode(layouts[0], list)}, "tau.edf": {Data: []byte(eventsText)}})
	if err != nil || fmt.Sprint(w.list) != "[0.0/10000→0.1/20000 tag 0x2a size -0x1]" || w.Reported["skipped one-sided messages that end and whose begin is not recorded"] != 1 {
		t.Errorf("links %v, report %v, %v", w.list, w.Reported, err)
	}
}

func TestAClockThatDoesNotAdvanceIsReported(t *testing.T) {
	list := []record{{event: 60000, parameter: 3, time: 1}, {event: 60005, parameter: 1700000000, time: 1}, {event: 60005, parameter: 1700000020, time: 60e9}}
	w, err := importMade(t, fstest.MapFS{"x.trc": {Data: encode(layouts[0], list)}, "tau.edf": {Data: []byte(eventsText)}})
	if err != nil || len(w.Reported) != 1 {
		t.Errorf("report %v, %v", w.Reported, err)
	}
	for what := range w.Reported {
		if !strings.Contains(what, "3e+09 a second") {
			t.Error(what)
		}
	}
}

func TestEachTraceFindsItsEvents(t *testing.T) {
	trc := encode(layouts[0], ring(1))
	_, err := importMade(t, fstest.MapFS{"x.trc": {Data: trc}})
	if err == nil || !strings.Contains(err.Error(), "put events.N.edf") {
		t.Errorf("without events: %v", err)
	}
	w, err := importMade(t, fstest.MapFS{"tautrace.0.0.0.trc": {Data: trc}, "events.0.edf": {Data: []byte(eventsText)}, "tau.trc": {Data: trc}, "tau.edf": {Data: []byte(eventsText)}})
	if err != nil || w.Enters != 1 || w.Reported["skipped merged traces beside the traces that they were made of"] != 1 {
		t.Errorf("merged beside: %d entries, %v, %v", w.Enters, w.Reported, err)
	}
	_, err = importMade(t, fstest.MapFS{"tautrace.0.0.0.trc": {Data: trc}, "tautrace.0.1.0.trc": {Data: trc}, "tau.edf": {Data: []byte(eventsText)}})
	if err == nil || !strings.Contains(err.Error(), "is also in") {
		t.Errorf("the same thread twice: %v", err)
	}
}
