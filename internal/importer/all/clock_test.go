package all

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// spansWithEvent are spans on a clock that counts from 1970, one of which has a named event after a millisecond.
func spansWithEvent(name string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[
{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"get","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000005000000",
"events":[{"timeUnixNano":"1700000000001000000","name":"` + name + `"}]}]}]}]}`
}

// eventsSinceBoot are Chrome events on a clock of their own, with an instant 2 ms after the first.
func eventsSinceBoot(name string) string {
	return `[{"ph":"X","name":"work","ts":9000000,"dur":3000,"pid":1,"tid":1},{"ph":"i","s":"t","name":"` + name + `","ts":9002000,"pid":1,"tid":1}]`
}

// Sources whose clocks cannot be one are refused with both epochs; an offset is given, or found from a common event.
func TestJoinedClocks(t *testing.T) {
	for name, c := range map[string]struct {
		spans, events string
		offset        trace.Time // of the Chrome file; 0: none
		end           trace.Time // of the joined run
		report        string
		refused       []string
	}{
		"no common event":       {spans: spansWithEvent("begun"), events: eventsSinceBoot("begun"), refused: []string{"2023-11-14 22:13:20 UTC", "9s after the zero of its own clock", "events.json@+1699999991s"}},
		"another marker":        {spans: spansWithEvent("sync:a"), events: eventsSinceBoot("sync:b"), refused: []string{"not one clock"}},
		"an offset":             {spans: spansWithEvent("begun"), events: eventsSinceBoot("begun"), offset: 1699999991e9 + 4e6, end: 7e6, report: "guessed clock offsets of joined sources, as given"},
		"a sync marker of both": {spans: spansWithEvent("sync:start"), events: eventsSinceBoot("sync:start"), end: 6e6, report: "guessed clock offsets of joined sources, found from spans with the same ids or sync markers of the same name in both"},
		"one clock, left as is": {spans: spansWithEvent("sync"), events: strings.ReplaceAll(eventsSinceBoot("sync"), `"ts":9`, `"ts":1700000000`), end: 5e6},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := importer.NewSourceFS("", fstest.MapFS{"spans.json": {Data: []byte(c.spans)}, "events.json": {Data: []byte(c.events)}})
			if err != nil {
				t.Fatal(err)
			}
			runs, _ := importer.Detect(Formats, s)
			if len(runs) != 2 {
				t.Fatalf("%d runs", len(runs))
			}
			for i := range runs {
				if runs[i].Format.Name == "chrome" && c.offset != 0 {
					runs[i].Offset = importer.Offset{By: c.offset, Given: true}
				}
			}
			m := storetest.NewMemory()
			err = importer.Join(runs).Import(context.Background(), m)
			for _, want := range c.refused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error is %v, want %q", err, want)
				}
			}
			if len(c.refused) > 0 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			info := m.Reader().Info()
			if info.End != c.end {
				t.Errorf("the run ends at %d, want %d", info.End, c.end)
			}
			if c.report != "" && importertest.Report(info.Report)[c.report] == 0 {
				t.Errorf("report is %v, want %q", info.Report, c.report)
			}
		})
	}
}
