package chrometrace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A nest makes calls that nest exactly, in units of a file's precision: children end
// with their parent, and siblings follow each other without a gap, as often as not.
type nest struct {
	rnd    *rand.Rand
	calls  []exact
	parent []int
}

type exact struct{ begin, end float64 }

func (n *nest) below(parent int, begin, end float64, depth int) {
	at := begin + 4 + n.rnd.Float64()*3
	for at+8 < end {
		length := min(8+n.rnd.Float64()*(end-at)/3, end-at)
		if n.rnd.IntN(6) == 0 {
			length = end - at
		}
		id := len(n.calls)
		n.calls, n.parent = append(n.calls, exact{at, at + length}), append(n.parent, parent)
		if depth < 5 {
			n.below(id, at, at+length, depth+1)
		}
		if at += length; n.rnd.IntN(2) == 0 {
			at += 3 * n.rnd.Float64()
		}
	}
}

// Whatever digits a file keeps, and whether they are rounded or cut off: calls that
// nested before lie in the same parents after, in one lane.
func TestRoundedTimesNest(t *testing.T) {
	all := 0
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		digits := int(seed % 4)
		unit := math.Pow10(-digits)
		n := &nest{rnd: rnd}
		n.below(-1, 0, 3000, 0)
		origin := []float64{0, 1_000_000}[rnd.IntN(2)]
		write := func(units float64) string {
			v := units * unit
			if seed%3 == 0 {
				v = math.Floor(v*math.Pow10(digits)) / math.Pow10(digits)
			}
			return fmt.Sprintf("%.*f", digits, v)
		}
		var b strings.Builder
		b.WriteString(`{"traceEvents":[`)
		for i, c := range n.calls {
			if i > 0 {
				b.WriteString(",\n")
			}
			head := fmt.Sprintf(`"name":"f%d","pid":1,"tid":1,"ts":`, i)
			if rnd.IntN(5) == 0 { // begin and end apart
				fmt.Fprintf(&b, `{"ph":"B",%s%s},{"ph":"E",%s%s}`, head, write(origin+c.begin), head, write(origin+c.end))
			} else {
				fmt.Fprintf(&b, `{"ph":"X",%s%s,"dur":%s}`, head, write(origin+c.begin), write(c.end-c.begin))
			}
		}
		b.WriteString("]}")
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		r := importertest.Import(t, Format, path)
		rows := 0
		err := r.Intervals(t.Context(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
			if c.Lane != 0 {
				t.Errorf("seed %d, %d digits: a second lane, with %s", seed, digits, r.Regions()[c.Region[0]].Name)
			}
			for i := range c.Begin {
				rows++
				var id int
				fmt.Sscanf(r.Regions()[c.Region[i]].Name, "f%d", &id)
				up := -1
				if p := c.Parent[i]; p >= 0 {
					x, _ := r.Interval(store.Row{Location: c.Location, Lane: c.Lane, Row: int(p)})
					fmt.Sscanf(r.Regions()[x.Region[0]].Name, "f%d", &up)
				}
				if up != n.parent[id] {
					t.Errorf("seed %d, %d digits: f%d lies in f%d, want f%d", seed, digits, id, up, n.parent[id])
				}
				if off := math.Abs(float64(c.Duration[i])/1000 - (n.calls[id].end-n.calls[id].begin)*unit); off > 2.001*unit {
					t.Errorf("seed %d, %d digits: f%d is off by %v µs", seed, digits, id, off)
				}
			}
			return nil
		})
		if err != nil || rows != len(n.calls) {
			t.Fatalf("seed %d: %d rows of %d, %v", seed, rows, len(n.calls), err)
		}
		all += rows
	}
	if all < 2000 {
		t.Errorf("only %d calls", all)
	}
}

func TestToleranceIsWhatDigitsCanCause(t *testing.T) {
	text := func(s string) value { return rawValue([]byte(s), number) }
	for _, c := range []struct {
		ts, dur string
		want    trace.Time
	}{
		{"40.000", "60.001", 2},
		{"40", "60", 2000},
		{"40.5", "60.12", 110},
		{"1794703558225707.123", "5.001", 2}, // more digits than a float64 has
		{"1794703558225707.2", "5.1", 500},   // a float64: every quarter of a microsecond
		{"1794703558225707", "5", 2000},
		{"12.3456789", "1.23456789", 2},
	} {
		var p precision
		at, _ := text(c.ts).nanoseconds()
		p.see(at, digitsIn(text(c.ts), text(c.dur)))
		if got := p.tolerance(); got != c.want {
			t.Errorf("ts %s, dur %s: %d ns, want %d", c.ts, c.dur, got, c.want)
		}
	}
	if got := new(precision).tolerance(); got != 0 {
		t.Errorf("without complete records: %d ns", got)
	}
}

// The child ends a nanosecond after its parent: the parent has 40 µs of its own.
func TestAChildANanosecondTooLongIsNested(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mini.json")
	data := `{"traceEvents":[{"ph":"X","name":"step","pid":1,"tid":1,"ts":0,"dur":100.000},{"ph":"X","name":"MPI_Allreduce","pid":1,"tid":1,"ts":40.000,"dur":60.001}]}`
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	r := importertest.Import(t, Format, path)
	x, _ := r.Interval(store.Row{Location: 1})
	if x.Len() != 1 || x.Exclusive[0] != 40000 || r.Info().Depth != 2 {
		t.Errorf("%+v", x)
	}
	if n := importertest.Report(r.Info().Report)["repaired intervals whose end was moved by no more than times in the source are exact, so that they nest"]; n != 1 {
		t.Errorf("%d reported, want 1", n)
	}
}

func digitsIn(ts, dur value) (d timeDigits) {
	d.whole, d.after = digitsOf(ts.raw())
	_, d.length = digitsOf(dur.raw())
	return d
}
