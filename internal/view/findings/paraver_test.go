package findings_test

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Types of events, as Extrae numbers them.
const (
	pointToPoint  = 50000001
	collectives   = 50000002
	userFunctions = 60000019
)

// writeParaver writes ranks as Extrae would: calls of MPI, functions, and messages.
func writeParaver(t *testing.T, r store.Reader) (path string) {
	t.Helper()
	regions := r.Regions()
	kind := make([]int, len(regions))
	names := map[int][]string{}
	for i := range regions {
		switch g := &regions[i]; {
		case g.Role != trace.RoleCommunication:
			kind[i] = userFunctions
		case g.Name == "MPI_Allreduce" || g.Name == "MPI_Barrier" || g.Name == "MPI_Bcast":
			kind[i] = collectives
		default:
			kind[i] = pointToPoint
		}
		names[kind[i]] = append(names[kind[i]], fmt.Sprintf("%d   %s\n", i+1, regions[i].Name))
	}
	type line struct {
		at   trace.Time
		text string
	}
	var mu sync.Mutex
	var lines []line
	tree := r.Locations()
	place := func(id trace.LocationID) string {
		return fmt.Sprintf("%d:1:%d:1", tree.Rank[id]+1, tree.Rank[id]+1)
	}
	all := store.Window{End: r.Info().End + 1}
	ranks := 0
	err := r.Intervals(t.Context(), all, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		ranks = max(ranks, int(tree.Rank[c.Location])+1)
		event := func(at trace.Time, g trace.RegionID, value trace.RegionID) {
			lines = append(lines, line{at, fmt.Sprintf("2:%s:%d:%d:%d\n", place(c.Location), at, kind[g], value)})
		}
		type open struct {
			end    trace.Time
			region trace.RegionID
		}
		var stack []open
		leave := func(until trace.Time) {
			for n := len(stack); n > 0 && stack[n-1].end <= until; n = len(stack) {
				event(stack[n-1].end, stack[n-1].region, 0)
				stack = stack[:n-1]
			}
		}
		for i, g := range c.Region {
			if trace.Inferred(&regions[g]) {
				continue
			}
			leave(c.Begin[i])
			event(c.Begin[i], g, g+1)
			stack = append(stack, open{c.End(i), g})
		}
		leave(all.End)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Links(t.Context(), all, func(l *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, k := range l.Kind {
			if k == trace.LinkMessage {
				lines = append(lines, line{l.FromTime[i], fmt.Sprintf("3:%s:%d:%d:%s:%d:%d:%d:1\n", place(l.FromLocation[i]), l.FromTime[i], l.FromTime[i],
					place(l.ToLocation[i]), l.ToTime[i], l.ToTime[i], l.Size[i])})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	path = filepath.Join(t.TempDir(), "run.prv")
	write := func(path string, texts func(*bufio.Writer)) {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		texts(w)
		if err := cmp.Or(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(path, func(w *bufio.Writer) {
		fmt.Fprintf(w, "#Paraver (01/02/2026 at 10:00):%d_ns:1(%d):1:%d(%s)\n", r.Info().End, ranks, ranks, strings.TrimSuffix(strings.Repeat("1:1,", ranks), ","))
		for i := range lines {
			w.WriteString(lines[i].text)
		}
	})
	write(strings.TrimSuffix(path, "prv")+"pcf", func(w *bufio.Writer) {
		for k, title := range map[int]string{pointToPoint: "MPI Point-to-point", collectives: "MPI Collective Comm", userFunctions: "User function"} {
			fmt.Fprintf(w, "EVENT_TYPE\n9    %d    %s\nVALUES\n%s0   End\n\n", k, title, strings.Join(names[k], ""))
		}
	})
	return path
}
