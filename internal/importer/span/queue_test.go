package span

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// What reads spans uses its lists again at once, and what writes them is behind: nothing of a span may change on the way, and
// what is reported keeps its place.
func TestSpansAreWrittenAsTheyWereRead(t *testing.T) {
	const count = 20*batchSpans + 7
	var q queue
	var got []string
	write := func(b *batch) {
		reports := b.reports
		for i := range b.spans {
			for ; len(reports) > 0 && reports[0].before <= i; reports = reports[1:] {
				got = append(got, reports[0].what)
			}
			s := &b.spans[i]
			got = append(got, fmt.Sprint(s.Name, s.Tags, s.Events, s.References))
		}
		for _, r := range reports {
			got = append(got, r.what)
		}
	}
	var want []string
	var s Span
	fields := make([]trace.Attribute, 1)
	for i := range count {
		fields[0] = trace.Attribute{Key: "of event", Value: trace.Integer(int64(-i))}
		s = Span{Name: fmt.Sprint(i), Tags: s.Tags[:0], Events: s.Events[:0], References: s.References[:0]}
		for k := range i % 5 {
			s.Tags = append(s.Tags, trace.Attribute{Key: "k", Value: trace.Integer(int64(i * k))})
		}
		if i%3 == 0 {
			s.Events = append(s.Events, Event{Time: trace.Time(i), Tags: fields})
			s.References = append(s.References, Reference{Trace: fmt.Sprint(i)})
		}
		b := q.batch()
		if i%100 == 0 {
			what := fmt.Sprint("before ", i)
			b.reports = append(b.reports, reported{before: len(b.spans), what: what})
			want = append(want, what)
		}
		want = append(want, fmt.Sprint(s.Name, s.Tags, s.Events, s.References))
		if b.add(&s); len(b.spans) == batchSpans {
			q.send(write)
		}
	}
	q.drain(write)
	if len(got) != len(want) {
		t.Fatalf("%d written of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("record %d is %s, not %s", i, got[i], want[i])
		}
	}
}

// A panic of what writes is one of what reads, which comes to its end first.
func TestAPanicOfWritingIsOneOfReading(t *testing.T) {
	var q queue
	write := func(*batch) { panic("full") }
	for range 10 * batchSpans {
		if b := q.batch(); len(b.spans) < batchSpans {
			b.add(&Span{})
		} else {
			q.send(write)
		}
	}
	defer func() {
		if p := recover(); p == nil {
			t.Error("nobody was told")
		}
	}()
	q.drain(write)
}
