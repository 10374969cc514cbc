package findings_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A crop is a run that was grown with a fault in it.
type crop interface {
	store(t *testing.T) store.Reader
}

// A plant is a fault of a kind and a size, and what the first finding must say.
type plant struct {
	kind  string
	size  string
	run   crop
	want  finding.Kind
	about string // a pattern of the subjects and the evidence, see answers.about
	cost  trace.Time
}

func slower(ranks func(int) bool, factor float64) func(*rand.Rand, int, int, *task) float64 {
	return func(_ *rand.Rand, r, _ int, t *task) float64 {
		if ranks(r) && t.region == "compute" {
			return factor
		}
		return 0
	}
}

func only(list ...int) func(int) bool {
	return func(r int) bool {
		for _, x := range list {
			if x == r {
				return true
			}
		}
		return false
	}
}

// plants are faults of each kind at several sizes, with and without halos.
func plants() (list []plant) {
	add := func(kind, size string, want finding.Kind, about string, make func(f *field)) {
		f := grow()
		make(f)
		if f.halo {
			kind += ", halo"
		}
		list = append(list, plant{kind, size, f, want, about, f.cost()})
	}
	for _, halo := range []bool{false, true} {
		for _, x := range []float64{1.1, 1.3, 2} {
			add("slow rank", fmt.Sprintf("× %.1f", x), finding.Straggler, `^at node01/rank 5\n[^@]*^compute = `, func(f *field) { f.halo = halo; f.change = append(f.change, slower(only(5), x)) })
			add("slow node", fmt.Sprintf("× %.1f", x), finding.Straggler, `^at node01/rank 4\nat node01/rank 5\nat node01/rank 6\nat node01/rank 7\nphase `, func(f *field) { f.halo = halo; f.change = append(f.change, slower(only(4, 5, 6, 7), x)) })
			add("half slow", fmt.Sprintf("× %.1f", x), finding.Straggler, `^at node02/rank 8\n(at .*\n){6}at node03/rank 15\nphase `, func(f *field) {
				f.halo = halo
				f.change = append(f.change, slower(func(r int) bool { return r >= 8 }, x))
			})
		}
		for _, x := range []trace.Time{1, 3, 8} {
			add("serial stretches", fmt.Sprintf("%d ms each", x), finding.Serial, `^at node00/rank 0\n[^@]*^merge_results = `, func(f *field) {
				f.halo = halo
				f.extra = append(f.extra, func(r, _ int) []task {
					if r == 0 {
						return []task{{"merge_results", x * ms}}
					}
					return nil
				})
			})
			add("i/o of one", fmt.Sprintf("%d ms in each fifth", 10*x), finding.IO, `^at node00/rank 3\n[^@]*^write_checkpoint = `, func(f *field) {
				f.halo = halo
				f.extra = append(f.extra, func(r, i int) []task {
					if r == 3 && i%5 == 4 {
						return []task{{"write_checkpoint", 10 * x * ms}}
					}
					return nil
				})
			})
		}
		for _, x := range []float64{1.3, 1.6} {
			add("rotating", fmt.Sprintf("× %.1f", x), finding.Rotating, `^in compute$`, func(f *field) {
				f.halo = halo
				f.change = append(f.change, func(_ *rand.Rand, r, i int, _ *task) float64 {
					if (i*7+3)%16 == r {
						return x
					}
					return 0
				})
			})
			add("jitter", fmt.Sprintf("× %.1f for 3 %%", x+0.3), finding.Jitter, `^in compute$`, func(f *field) {
				f.halo, f.iterations = halo, 80
				f.change = append(f.change, func(rnd *rand.Rand, _, _ int, _ *task) float64 {
					if rnd.Float64() < 0.03 {
						return x + 0.3
					}
					return 0
				})
			})
			add("growth of one", fmt.Sprintf("to × %.1f", x+0.4), finding.Growth, `^at node00/rank 3\nphase `, func(f *field) {
				f.halo = halo
				f.change = append(f.change, func(_ *rand.Rand, r, i int, _ *task) float64 {
					if r == 3 {
						return 1 + (x-0.6)*float64(i)/40
					}
					return 0
				})
			})
			add("gradient", fmt.Sprintf("to × %.1f", x), finding.Imbalance, `^compute on rank 15 = `, func(f *field) {
				f.halo = halo
				f.change = append(f.change, func(_ *rand.Rand, r, _ int, _ *task) float64 { return 1 + (x-1)*float64(r)/15 })
			})
			add("since half", fmt.Sprintf("× %.1f", x), finding.Straggler, `^at node02/rank 9\nphase iteration 2[01]$`, func(f *field) {
				f.halo = halo
				f.change = append(f.change, func(_ *rand.Rand, r, i int, _ *task) float64 {
					if r == 9 && i >= 20 {
						return x
					}
					return 0
				})
			})
			add("one region", fmt.Sprintf("× %.1f", x), finding.Straggler, `^assemble = `, func(f *field) {
				f.halo, f.work = halo, []task{{"solve", 6 * ms}, {"assemble", 4 * ms}}
				f.change = append(f.change, func(_ *rand.Rand, r, _ int, t *task) float64 {
					if t.region == "assemble" && (r == 2 || r == 11) {
						return x
					}
					return 0
				})
			})
			add("oversubscribed", fmt.Sprintf("× %.1f", x), finding.Crowded, `^at node03/rank 9\n(at node03/.*\n)+phase `, func(f *field) {
				f.halo = halo
				f.place = func(r int) int { // 0-2, 3-5, 6-8, and seven on the last
					return min(r/3, 3)
				}
				f.change = append(f.change, slower(func(r int) bool { return r >= 9 }, x))
			})
		}
		for _, x := range []trace.Time{40, 150} {
			add("start-up of one", fmt.Sprintf("%d ms", x), finding.StartUp, `^at node00/rank 2\n[^@]*^MPI_Init = `, func(f *field) {
				f.halo = halo
				f.first = func(r int) []task {
					if r == 2 {
						return []task{{"MPI_Init", (10 + x) * ms}}
					}
					return []task{{"MPI_Init", 10 * ms}}
				}
			})
		}
	}
	for _, x := range []trace.Time{10, 25, 60} {
		add("late sender", fmt.Sprintf("%d ms once", x), finding.LateSender, `^at node01/rank 6\n(phase .*\n)*prepare = `, func(f *field) {
			f.halo, f.meet = true, false
			f.extra = append(f.extra, func(r, i int) []task {
				if r == 6 && i == 5 {
					return []task{{"prepare", x * ms}}
				}
				return nil
			})
		})
		add("late receiver", fmt.Sprintf("%d µs each", 100*x), finding.LateReceiver, `^at node01/rank 5\n(phase .*\n)*unpack = `, func(f *field) {
			f.ssend, f.meet = true, false
			f.extra = append(f.extra, func(r, i int) []task {
				if r == 5 {
					return []task{{"unpack", x * ms / 10}}
				}
				return nil
			})
		})
		add("subcommunicators", fmt.Sprintf("× %.2f", 1+float64(x)/100), finding.Straggler, `^at node01/rank 5\nphase `, func(f *field) {
			f.sub = 8
			f.change = append(f.change, slower(only(5), 1+float64(x)/100))
		})
	}
	// Faults for which nobody waits.
	for _, x := range []trace.Time{3, 6, 12} {
		f := grow()
		f.latency = x * ms
		list = append(list, plant{"transfer-bound", fmt.Sprintf("%d of %d ms", x, 10+x), f, finding.Communication, `^in MPI_Allreduce$`, trace.Time(f.ranks*f.iterations) * x * ms})
		g := grow()
		g.work = append(g.work, task{"write_output", x * ms})
		list = append(list, plant{"i/o of all", fmt.Sprintf("%d of %d ms", x, 10+x), g, finding.IO, `^in write_output$`, trace.Time(g.ranks*g.iterations) * x * ms})
		h := grow()
		h.first = func(int) []task { return []task{{"MPI_Init", 20 * x * ms}} }
		list = append(list, plant{"start-up of all", fmt.Sprintf("%d ms", 20*x), h, finding.StartUp, `^in MPI_Init$`, trace.Time(h.ranks) * 20 * x * ms})
		k := grow()
		k.change = append(k.change, func(_ *rand.Rand, _, i int, _ *task) float64 { return 1 + 0.1*float64(x)*float64(i)/40 })
		sum := 0.0
		for i := range k.iterations {
			sum += 0.1 * float64(x) * float64(i) / 40
		}
		list = append(list, plant{"growth of all", fmt.Sprintf("to × %.1f", 1+0.1*float64(x)), k, finding.Growth, `^work in iteration 1 = `, trace.Time(float64(k.ranks) * sum * 10e6)})
	}
	return append(list, otherPlants()...)
}

// otherPlants are faults of threads, pools, Go programs, processors, GPUs and profiles.
func otherPlants() (list []plant) {
	add := func(kind, size string, run crop, want finding.Kind, about string, cost trace.Time) {
		list = append(list, plant{kind, size, run, want, about, cost})
	}
	for _, x := range []trace.Time{1, 2, 4} {
		hold := func(int) trace.Time { return x * ms }
		one := func(t int) trace.Time {
			if t == 3 {
				return 3 * x * ms
			}
			return ms / 10
		}
		size := fmt.Sprintf("held %d ms", x)
		b := locking(true, hold)
		add("lock, critical section", size, b, finding.Lock, `^in !\$omp critical.*sblock`, b.cost)
		b = locking(false, hold)
		add("lock, mutex", size, b, finding.Lock, `^in update$`, b.cost)
		b = locking(false, one)
		add("lock, one holds it", fmt.Sprintf("for %d ms", 3*x), b, finding.Lock, `^at program/thread 3\nin update$`, b.cost)
		b = locking(false, hold)
		add("lock, Go", size, text(b.asGo()), finding.Lock, `^main\.work in main\.update = `, b.cost)
		b = pooling(x*ms, false)
		add("serial, pool of threads", fmt.Sprintf("%d ms each", x), b, finding.Serial, `^at program/worker 0\n[^@]*^split_work = `, b.cost)
		b = pooling(x*ms, true)
		add("serial, pool that tells idle time", fmt.Sprintf("%d ms each", x), b, finding.Serial, `^at program/worker 0\n[^@]*^split_work = `, b.cost)
		b = signalling(x * ms)
		add("serial, condition", fmt.Sprintf("%d ms each", x), b, finding.Serial, `^at program/thread 0\n[^@]*^prepare_round = `, b.cost)
		g, cost := serialGo(int(2000*x), 20)
		add("serial, Go", fmt.Sprintf("%d ms each", 2*x), text(g.String()), finding.Serial, `^main\.main alone = `, trace.Time(cost))
		c, waited := crowd(int(4+2*x), 4, 60)
		add("more threads than processors", fmt.Sprintf("%d for 4", 4+2*x), text(c), finding.Crowded, `^processors = 4$`, trace.Time(waited))
		f := train()
		f.kernels = func(r, _ int) trace.Time {
			if r == 5 {
				return 10*ms + 2*x*ms
			}
			return 10 * ms
		}
		add("slow GPU", fmt.Sprintf("× %.1f", 1+0.2*float64(x)), f, finding.Straggler, `^at node1/rank 5\nphase `, f.ripen().waited)
		h := train()
		h.load = func(int, int) trace.Time { return 2 * x * ms }
		add("loader of all GPUs", fmt.Sprintf("%d ms each", 2*x), h, finding.InputBound, `^data loading per step = `, h.ripen().idle)
		u := &tally{16, func(r int) map[string]float64 {
			return map[string]float64{"solve": 500 + float64(x)*float64(r)*10, "assemble": 500}
		}}
		add("profile, uneven", fmt.Sprintf("to + %d %%", 30*x), u, finding.Imbalance, `^in solve$`, trace.Time(16*float64(x)*75*1e6))
		v := &tally{16, func(r int) map[string]float64 {
			init := 20.0
			if r/4 == 2 {
				init += 100 * float64(x)
			}
			return map[string]float64{"solve": 800, "MPI_Init": init, "MPI_Allreduce": 50}
		}}
		add("profile, start of one node", fmt.Sprintf("%d ms", 100*x), v, finding.StartUp, `^at node02/rank 8\n(at node02/.*\n){3}starting`, trace.Time(4*float64(x)*100*1e6))
		y := &tally{16, func(int) map[string]float64 {
			return map[string]float64{"solve": 300, "MPI_Allreduce": 100 * float64(x)}
		}}
		add("profile, communication", fmt.Sprintf("%.0f %%", 100*float64(x)/(3+float64(x))), y, finding.Communication, `^in MPI_Allreduce$`, trace.Time(16*float64(x)*100*1e6))
	}
	return list
}

// outcome of a planted fault.
type outcome struct {
	named bool
	off   float64 // of the cost
	text  string
}

func look(d *answers, p *plant) outcome {
	if len(d.Findings) == 0 {
		return outcome{off: math.Inf(1), text: "(nothing)"}
	}
	f := &d.Findings[0]
	return outcome{f.Kind == p.want && regexp.MustCompile(`(?m)`+p.about).MatchString(d.about(f)), math.Abs(float64(f.Lost-p.cost)) / float64(p.cost), string(f.Kind) + ": " + f.Text}
}

// A bedTable is the planted faults as docs/findings.md tells them.
type bedTable struct {
	order []string
	rows  map[string]*bedRow
}

type bedRow struct {
	sizes, errors []string
	named, right  int
}

func (b *bedTable) add(p *plant, o outcome) {
	r := b.rows[p.kind]
	if r == nil {
		r = &bedRow{}
		b.rows[p.kind] = r
		b.order = append(b.order, p.kind)
	}
	r.sizes = append(r.sizes, p.size)
	r.errors = append(r.errors, fmt.Sprintf("%.1f %%", 100*o.off))
	if o.named {
		r.named++
		if o.off <= 0.1 {
			r.right++
		}
	}
}

func (b *bedTable) String() string {
	var out strings.Builder
	out.WriteString("| kind | sizes | named first | error of the cost |\n| --- | --- | --- | --- |\n")
	named, right, all := b.sum()
	for _, k := range b.order {
		r := b.rows[k]
		fmt.Fprintf(&out, "| %s | %s | %d of %d | %s |\n", k, strings.Join(r.sizes, "; "), r.named, len(r.sizes), strings.Join(r.errors, "; "))
	}
	fmt.Fprintf(&out, "\n%d of %d are named first, %d of them with the cost within 10 %%.\n", named, all, right)
	return out.String()
}

func (b *bedTable) sum() (named, right, all int) {
	for _, r := range b.rows {
		named, right, all = named+r.named, right+r.right, all+len(r.sizes)
	}
	return named, right, all
}

// documented holds a part of docs/findings.md between two marks against what tests found;
// -update writes it.
func documented(t *testing.T, mark, want string) {
	t.Helper()
	const file = "../../../docs/findings.md"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+mark+", written by the tests -->\n", "<!-- end of "+mark+" -->\n"
	head, rest, ok := strings.Cut(string(raw), begin)
	is, tail, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		t.Fatalf("%s has no marks of %q", file, mark)
	case is == want:
	case viewtest.Updating():
		if err := os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s says otherwise than the tests; run with -update and look at it:\n%s", file, tracetest.Diff(is, want))
	}
}

// Faults of every kind come first, and the number that is told for what they cost is that of
// the field that grew them. Sentences hold no number without evidence.
func TestInjectedFaultsAreFirstWithTheirCost(t *testing.T) {
	table := &bedTable{rows: map[string]*bedRow{}}
	for _, p := range plants() {
		d := read(t, p.run.store(t))
		o := look(&d, &p)
		if !o.named || o.off > 0.1 {
			t.Logf("%s, %s: off by %.1f %%, want %v of %s: %s", p.kind, p.size, 100*o.off, p.cost, p.want, o.text)
		}
		sums(t, p.kind+" "+p.size, &d)
		numbersAreEvidence(t, p.kind+" "+p.size, &d)
		table.add(&p, o)
	}
	if named, right, all := table.sum(); float64(right) < 0.95*float64(all) {
		t.Errorf("%d of %d are named first, %d with their cost, want 95 %%", named, all, right)
	}
	documented(t, "planted", table.String())
}

// sums holds the identity of the books.
func sums(t *testing.T, name string, d *answers) {
	t.Helper()
	sum := d.Unexplained
	for _, c := range d.Budget {
		sum += c.Time
	}
	if a := &d.Accounts; sum != a.Waiting || a.Work+a.Waiting+a.Transfer+a.Rest != a.Time || a.Rest < 0 {
		t.Errorf("%s: causes and the unexplained are %d of %d; %+v", name, sum, a.Waiting, *a)
	}
}

// Two faults at once are the first two, and cost together what the field adds up.
func TestTwoFaultsAtOnceAreBothNamed(t *testing.T) {
	merge := func(x trace.Time) func(r, i int) []task {
		return func(r, i int) []task {
			if r == 0 && i%2 == 0 { // a slow node hides it in the others
				return []task{{"merge_results", x * ms}}
			}
			return nil
		}
	}
	write := func(x trace.Time) func(r, i int) []task {
		return func(r, i int) []task {
			if r == 12 && i%4 == 3 {
				return []task{{"write_checkpoint", 10 * x * ms}}
			}
			return nil
		}
	}
	start := func(x trace.Time) func(r int) []task {
		return func(r int) []task {
			if r == 2 {
				return []task{{"MPI_Init", (10 + 40*x) * ms}}
			}
			return []task{{"MPI_Init", 10 * ms}}
		}
	}
	slow := func(x trace.Time) func(*rand.Rand, int, int, *task) float64 {
		return slower(only(5), 1+0.1*float64(x))
	}
	node := func(x trace.Time) func(*rand.Rand, int, int, *task) float64 {
		return slower(only(8, 9, 10, 11), 1+0.15*float64(x))
	}
	var table strings.Builder
	table.WriteString("| two at once | sizes | the first two | error of both costs together |\n| --- | --- | --- | --- |\n")
	right, all := 0, 0
	for _, c := range []struct {
		name string
		make func(f *field, x trace.Time)
		want []finding.Kind
	}{
		{"slow rank, i/o", func(f *field, x trace.Time) { f.change, f.extra = append(f.change, slow(x)), append(f.extra, write(x)) }, []finding.Kind{finding.Straggler, finding.IO}},
		{"slow node, serial", func(f *field, x trace.Time) {
			f.change, f.extra = append(f.change, node(x)), append(f.extra, merge(3*x))
		}, []finding.Kind{finding.Straggler, finding.Serial}},
		{"serial, start-up", func(f *field, x trace.Time) { f.extra, f.first = append(f.extra, merge(x)), start(x) }, []finding.Kind{finding.Serial, finding.StartUp}},
		{"slow rank, start-up, halo", func(f *field, x trace.Time) { f.halo, f.change, f.first = true, append(f.change, slow(x)), start(x) }, []finding.Kind{finding.Straggler, finding.StartUp}},
		{"i/o, serial", func(f *field, x trace.Time) { f.extra = append(f.extra, merge(x), write(x)) }, []finding.Kind{finding.Serial, finding.IO}},
		{"transfer, slow rank", func(f *field, x trace.Time) { f.latency, f.change = 2*x*ms, append(f.change, slow(x)) }, []finding.Kind{finding.Communication, finding.Straggler}},
	} {
		both, errors := 0, []string{}
		for _, x := range []trace.Time{2, 3, 5} {
			f := grow()
			c.make(f, x)
			cost := f.cost()
			if c.want[0] == finding.Communication {
				cost += trace.Time(f.ranks*f.iterations) * f.latency
			}
			d := read(t, f.store(t))
			sums(t, c.name, &d)
			got, lost := map[finding.Kind]bool{}, trace.Time(0)
			for _, x := range d.Findings[:min(len(d.Findings), 2)] {
				got[x.Kind] = true
				lost += x.Lost
			}
			off := math.Abs(float64(lost-cost)) / float64(cost)
			all++
			if got[c.want[0]] && got[c.want[1]] {
				both++
				if off <= 0.1 {
					right++
				}
			}
			if !got[c.want[0]] || !got[c.want[1]] || off > 0.1 {
				t.Logf("%s, %d: off by %.1f %%, %q", c.name, x, 100*off, texts(&d))
			}
			errors = append(errors, fmt.Sprintf("%.1f %%", 100*off))
		}
		fmt.Fprintf(&table, "| %s | 2; 3; 5 | %d of 3 | %s |\n", c.name, both, strings.Join(errors, "; "))
	}
	if float64(right) < 0.95*float64(all) {
		t.Errorf("%d of %d are the first two with their cost, want 95 %%", right, all)
	}
	documented(t, "mixed", table.String())
}

func texts(d *answers) (out []string) {
	for i := range d.Findings {
		out = append(out, fmt.Sprintf("%s %s %v: %s", d.Findings[i].Severity, d.Findings[i].Kind, d.Findings[i].Lost, d.Findings[i].Text))
	}
	return out
}

// Healthy runs of many kinds: nothing grave is said of them.
func TestHealthyRunsHaveNoSevereFindings(t *testing.T) {
	for name, make := range map[string]func(f *field){
		"noise":            func(f *field) { f.noise = 0.01 },
		"noise, halo":      func(f *field) { f.noise, f.halo = 0.01, true },
		"halo only":        func(f *field) { f.noise, f.halo, f.meet = 0.01, true, false },
		"subcommunicators": func(f *field) { f.noise, f.sub = 0.01, 4 },
		"two regions": func(f *field) {
			f.noise, f.work = 0.01, []task{{"solve", 6 * ms}, {"assemble", 4 * ms}}
		},
		"slack": func(f *field) {
			f.work = []task{{"solve", 5 * ms}, {"assemble", 5 * ms}}
			f.change = append(f.change, func(_ *rand.Rand, r, _ int, t *task) float64 {
				switch {
				case r == 5 && t.region == "solve":
					return 1.5
				case r == 5:
					return 0.5
				}
				return 0
			})
		},
		"a little i/o": func(f *field) {
			f.extra = append(f.extra, func(r, i int) []task {
				if i%10 == 9 {
					return []task{{"write_output", ms / 2}}
				}
				return nil
			})
		},
		"a short start": func(f *field) { f.first = func(int) []task { return []task{{"MPI_Init", 5 * ms}} } },
		"pairs":         func(f *field) { f.ssend, f.meet = true, false },
	} {
		for seed := range uint64(3) {
			f := grow()
			f.seed = seed + 1
			make(f)
			d := read(t, f.store(t))
			sums(t, name, &d)
			for _, x := range d.Findings {
				if x.Severity != finding.Low {
					t.Errorf("%s, seed %d: %s %s: %s", name, seed, x.Severity, x.Kind, x.Text)
				}
			}
		}
	}
	even, _ := serialGo(0, 20)
	calm, _ := crowd(4, 4, 60)
	for name, run := range map[string]crop{
		"a lock that is free": locking(false, func(int) trace.Time { return ms / 50 }), "a critical section that is free": locking(true, func(int) trace.Time { return ms / 50 }),
		"a condition": signalling(ms / 100), "a pool": pooling(0, true), "a pool, idle time not told": pooling(0, false), "a Go program": text(even.String()), "as many threads as processors": text(calm), "GPUs": train(),
		"a profile": &tally{16, func(r int) map[string]float64 {
			return map[string]float64{"solve": 900 + float64(r%3), "MPI_Init": 5, "MPI_Allreduce": 50 - float64(r%3)}
		}},
	} {
		d := read(t, run.store(t))
		sums(t, name, &d)
		for _, x := range d.Findings {
			if x.Severity != finding.Low {
				t.Errorf("%s: %s %s: %s", name, x.Severity, x.Kind, x.Text)
			}
		}
	}
}
