package diagnose

// Gains: the run is replayed without the cause of a finding.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A removal is the cause of a finding, to be taken away in a replay of the run.
type removal struct {
	finding int // in the list
	change  budget.Change
	assumed string // after "if"
	// byRounds: the cause differs from round to round, and sums over the run do not show it.
	byRounds bool
}

const (
	// mostReplayed is the number of intervals up to which a run is replayed: it is read once more for that.
	mostReplayed = 4 << 20
	// fewestRounds is how many rounds show a cause that differs from round to round.
	fewestRounds = 8
	// mostRemovals is the number of causes that are replayed, those of the most time lost.
	mostRemovals = 6
)

// remove notes how the cause of a fault, the last finding, is taken away: units to blame take as long as the others,
// work that differs is spread evenly, work of few is shared.
func (a *culprits) remove(f *fault, kind finding.Kind, blamed []int32) {
	x := removal{change: budget.Change{Regions: make([]bool, len(a.accounts.regionNames))}}
	for k := range f.regions {
		x.change.Regions[k] = true
	}
	name := a.accounts.regionWord(f.cause())
	alone := a.alone[f.cause()]
	switch {
	case kind == finding.Slack:
		return
	case kind == finding.Lock:
		x.change.Without = func(w *budget.Wait) bool { return w.Kind == budget.Lock }
		x.change.Regions = make([]bool, len(a.accounts.regionNames))
		x.change.To, x.assumed = budget.ToNothing, fmt.Sprintf("no %s waited for locks", a.unitWord())
	case kind == finding.IO:
		x.change.To, x.assumed = budget.ToNothing, "reading and writing took no time"
	case blamed == nil:
		x.change.To, x.assumed = budget.ToMean, fmt.Sprintf("%s took as long on all %ss each time", name, a.unitWord())
		x.byRounds = kind != finding.Imbalance
		if x.byRounds && 2*f.kinds[budget.Collective] < f.lost {
			a.list[len(a.list)-1].NoGain = "others wait for it in messages, and may catch up before the next collective"
			return
		}
	case kind == finding.Serial:
		x.change.To, x.assumed = budget.ToShare, fmt.Sprintf("all %ss shared %s", a.unitWord(), name)
	case alone:
		x.change.To = budget.ToNothing
		x.assumed = fmt.Sprintf("%s took no time on %s", name, a.named(f.units))
	default:
		x.change.To = budget.ToPeers
		x.assumed = fmt.Sprintf("%s took as long on %s as on the other %ss (median)", name, a.named(f.units),
			a.unitWord())
	}
	if kind == finding.StartUp && f.cause() == budget.Nothing {
		x.assumed = fmt.Sprintf("%s began with the others", a.named(f.units))
	}
	if blamed != nil && kind != finding.Lock && kind != finding.IO {
		x.change.Actors = make([]bool, len(a.accounts.actors))
		blames := a.among(f.units)
		for actor, u := range a.accounts.unit {
			x.change.Actors[actor] = u >= 0 && blames[u]
		}
	}
	a.removeLast(x)
}

// removeAll notes that the time of all in some regions, which the last finding is about, is taken away.
func (c *diagnosis) removeAll(want func(k int32) bool, assumed string) {
	x := removal{assumed: assumed,
		change: budget.Change{Regions: make([]bool, len(c.accounts.regionNames)), To: budget.ToNothing}}
	for k := range x.change.Regions {
		x.change.Regions[k] = want(int32(k))
	}
	c.removeLast(x)
}

func (c *diagnosis) removeLast(x removal) {
	x.finding = len(c.list) - 1
	if c.accounts.result != nil {
		c.removals = append(c.removals, x)
	}
}

// predictGains replays the run without each cause. A finding is no graver than its gain.
func (c *diagnosis) predictGains() error {
	if err := c.replay(); err != nil {
		return err
	}
	for i := range c.list {
		f := &c.list[i]
		if all := float64(c.length) * float64(len(c.rows)); f.Gain == nil && varies(f.Kind) {
			f.Severity = f.Severity.AtMost(finding.LevelOf(float64(f.Lost) / all)) // no other measure
		}
		if g := f.Gain; g != nil {
			g.Text = gainWords(g)
			most := finding.LevelOf(g.Share * float64(g.Time+g.Error) / max(float64(g.Time), 1))
			f.Severity = f.Severity.AtMost(most)
		}
		if f.Severity == finding.Low || f.Gain != nil {
			f.NoGain = ""
		} else {
			f.NoGain = cmp.Or(f.NoGain, noGains[f.Kind], c.noGain())
		}
	}
	return nil
}

// noGains are the kinds of findings of which no gain is predicted, and why.
var noGains = map[finding.Kind]string{
	finding.Clock:         "times across locations mean nothing until the clocks agree",
	finding.Data:          "it is about the records, not about the program",
	finding.ProcessorWait: "the trace does not tell how the program runs with more processors",
	finding.Unexplained:   "the cause is not known",
	finding.MemoryFull:    "the trace does not tell what happens if the memory does not suffice",
	finding.FailedCalls:   "the time of a call that succeeds is not known",
	finding.Unlike:        "no location is recorded to wait for it",
	finding.Heterogeneous: "no location is recorded to wait for it",
	finding.Outlier:       "no location is recorded to wait for it",
	finding.IdleStart:     "no location is recorded to wait for it",
	finding.IdleEnd:       "no location is recorded to wait for it",
	finding.Starvation:    "other goroutines would run less instead",
}

// noGain says why the run is not replayed.
func (c *diagnosis) noGain() string {
	switch {
	case c.profile:
		return "a profile does not record which locations wait for which"
	case c.untimed:
		return "the clocks disagree, so the run cannot be replayed"
	case c.accounts.result == nil:
		return "the waits of this run are not traced one by one"
	case len(c.accounts.actors) > len(c.units):
		return "the start of threads is not recorded, so the run cannot be replayed"
	case c.tooLong:
		return "the run is too long to be replayed"
	}
	return "a replay of this run does not show it"
}

// varies reports whether a cause is now here, now there: then those who wait may catch up, and the run loses less than
// they do.
func varies(k finding.Kind) bool { return k == finding.Jitter || k == finding.Rotating }

// Ends are when replays of a run end, in ns since its begin.
type Ends struct {
	Of    string       // the causes that were taken away
	None  float64      // with none taken away
	Each  [][3]float64 // for each cause: with its target, with less time, with more
	Joint int          // rounds
}

// replay replays the run with the target of each change, and with the target moved to both sides, which gives the
// error.
func (c *diagnosis) replay() error {
	if len(c.removals) == 0 || c.untimed || len(c.accounts.actors) > len(c.units) {
		return nil // who starts a thread is not recorded: threads of a rank would begin when they did
	}
	slices.SortStableFunc(c.removals,
		func(x, y removal) int { return cmp.Compare(c.list[y.finding].Lost, c.list[x.finding].Lost) })
	c.removals = c.removals[:min(len(c.removals), mostRemovals)]
	ends, err := c.ends()
	if err != nil || ends == nil {
		return err
	}
	for i := range c.removals {
		x := &c.removals[i]
		if x.byRounds && ends.Joint < fewestRounds || ends.None <= 0 {
			c.list[x.finding].NoGain = fmt.Sprintf("the run has %s between collectives, and a replay needs %d",
				words.Count(ends.Joint, "round"), fewestRounds)
			continue
		}
		e := &ends.Each[i]
		time := max(ends.None-e[0], 0)
		c.list[x.finding].Gain = &finding.Gain{Time: trace.Time(time), Share: time / ends.None, Of: "the run",
			Error:  trace.Time(max(e[0]-e[1], e[2]-e[0], 0)),
			AtMost: x.change.To == budget.ToNothing || x.change.To == budget.ToMean, If: x.assumed, By: "replay"}
	}
	return nil
}

// ends replays the run. A run that is held in memory is not read again, and that of a large run is done once; nil of
// one that is too large.
func (c *diagnosis) ends() (*Ends, error) {
	of := ""
	for i := range c.removals {
		x := &c.removals[i]
		of += fmt.Sprintln(c.list[x.finding].Kind, c.list[x.finding].Lost, x.assumed)
	}
	if c.held != nil {
		return c.replayed(of)
	}
	n, err := c.store.Count(c.window)
	if err != nil || n > mostReplayed {
		c.tooLong = err == nil
		return nil, err
	}
	if !c.window.Whole(c.store) || c.question.Selection.Regions != nil {
		return c.replayed(of)
	}
	ofRun := derived.Derived[*Ends]{Name: "replays", Version: 4,
		Make:  func(context.Context, *derived.Run) (*Ends, error) { return c.replayed(of) },
		Keeps: func(store.Reader) bool { return n >= fewFollowed },
		Restore: func(x *Ends, _ store.Reader) error {
			if x.Of != of || len(x.Each) != len(c.removals) {
				return errors.New("other causes were taken away")
			}
			return nil
		}}
	x, err := ofRun.Of(c.ctx, c.question.Run)
	if err == nil && x.Of != of { // kept in memory, for other phases
		return c.replayed(of)
	}
	return x, err
}

// replayed replays the run now.
func (c *diagnosis) replayed(of string) (*Ends, error) {
	none := &budget.Change{Regions: make([]bool, len(c.accounts.regionNames)), To: budget.ToNothing}
	c.changes = []*budget.Change{none}
	for i := range c.removals {
		for _, shift := range []float64{0, -1, 1} {
			change := c.removals[i].change
			change.Shift = shift
			c.changes = append(c.changes, &change)
		}
	}
	if c.held != nil {
		c.held.Replay(c.changes)
	} else {
		n, err := c.store.Count(c.window)
		if err != nil {
			return nil, err
		}
		if _, err := c.follow(c.ctx, c.accounts, n); err != nil {
			return nil, err
		}
	}
	out := &Ends{Of: of, None: none.End, Joint: none.Rounds}
	for i := range c.removals {
		e := [3]float64{}
		for k := range e {
			e[k] = c.changes[1+3*i+k].End
		}
		out.Each = append(out.Each, e)
	}
	return out, nil
}

// sumGain predicts the gain of the last finding, at most, by a sum: if nobody waits, or if waits are not replayed. The
// error is that of a sum of such parts.
func (c *diagnosis) sumGain(time, whole float64, of, assumed string, parts spread) {
	if whole > 0 && time > 0 && assumed != "" {
		c.list[len(c.list)-1].Gain = &finding.Gain{Time: trace.Time(time), Share: time / whole, Of: of, AtMost: true,
			If: assumed, By: "sum", Parts: parts.n, Error: trace.Time(time * parts.off())}
	}
}

// gainOfRun is sumGain of the time of the run.
func (c *diagnosis) gainOfRun(time float64, assumed string, parts spread) {
	c.sumGain(time, float64(c.length), "the run", assumed, parts)
}

// gainOfProcessors is sumGain of time of processors, if all of them used it alike.
func (s *scheduler) gainOfProcessors(time float64, assumed string, parts spread) {
	s.gainOfRun(time*float64(s.length)/s.capacity, assumed, parts)
}

// likeOthers assumes that units take as long as the others.
func (c *diagnosis) likeOthers(units []int32) string {
	return c.named(units) + " came as early as the others"
}

// gainWords tells a gain: "The run would be 1.20 s ± 50 ms shorter (12.3 %) if …".
func gainWords(g *finding.Gain) string {
	if g.Time == 0 && g.Error == 0 {
		return fmt.Sprintf("%s would not be shorter if %s.", capitalWord(g.Of), g.If)
	}
	bound, off, unknown := "", "", ""
	if g.AtMost {
		bound = "at most "
	}
	if g.Error > 0 {
		off = " ± " + words.FormatTime(g.Error)
	}
	switch {
	case g.By == "sum" && g.Parts < 2:
		unknown = " There is one case only, so the error is unknown."
	case g.By == "replay" && g.AtMost && g.Error == 0:
		unknown = " This is a limit, so it has no error."
	}
	return fmt.Sprintf("%s would be %s%s%s shorter (%s) if %s.%s", capitalWord(g.Of), bound, words.FormatTime(g.Time),
		off, words.FormatShare(g.Share), g.If, unknown)
}
