package otf2

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/importer/align"
	"github.com/parallax-hpc/parallax/internal/importer/otf2/match"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// What is said of halves that stay alone. A thread may begin without a creation,
// as the first one does, and end without being waited for.
var aloneWords = [match.Kinds][2]string{
	match.Message: {"messages that are sent and whose receive is not recorded",
		"messages that are received and whose send is not recorded"},
	match.Team: {"threads of a team that are forked and whose begin is not recorded",
		"threads of a team that begin and whose fork is not recorded"},
	match.Join: {"threads of a team that end and whose join is not recorded",
		"joins of threads whose end is not recorded"},
	match.Thread: {"threads that are created and whose begin is not recorded", ""},
	match.Wait:   {"", "threads that are waited for and whose end is not recorded"},
	match.Task:   {"tasks that are created and never run", "tasks that run and whose creation is not recorded"},
}

// link joins the ends of links, and says what of the clocks shows in them.
func (a *archive) link(ctx context.Context) error {
	places := a.tree.places
	stats, err := match.JoinAll(ctx, a.matcher, parallel.Workers(), match.Output[trace.Link]{
		Fill: func(l *trace.Link, p *match.Pair) {
			l.Kind, l.Size, l.Tag, l.Communicator = match.Links[p.Key.Kind], p.Size, int64(p.Key.D),
				trace.NoCommunicator
			if p.Key.Kind == match.Message {
				l.Tag = int64(int32(p.Key.D))
				l.Communicator = a.comms[p.Key.A].id
			}
			setEnd(&p.Cause, &l.From, places)
			setEnd(&p.Effect, &l.To, places)
		},
		Take: func(list []trace.Link) { trace.AddLinks(a.w, list) },
	})
	if err != nil {
		return err
	}
	name := base(a.files.anchor)
	for k, s := range stats {
		a.report(trace.Skipped, aloneWords[k][0], s.Causes, name)
		a.report(trace.Skipped, aloneWords[k][1], s.Effects, name)
	}
	a.report(trace.Skipped, "sends and receives that cannot be paired, since receives of their process are missing",
		stats[match.Message].Unsure, name)
	return a.reportClocks(ctx, stats[match.Message])
}

func (a *archive) report(kind trace.ReportKind, what string, count int64, example string) {
	if count > 0 && what != "" {
		a.w.Report(kind, what, count, example)
	}
}

// setEnd fills every field by itself: a value that is made and then copied takes longer.
func setEnd(e *match.End, to *trace.End, places []place) {
	to.Location, to.Time, to.Region, to.Number = places[e.At].id, e.Time, e.Call.Region, e.Call.Number
}

// reportClocks says in how many places effects come before their causes.
func (a *archive) reportClocks(ctx context.Context, messages match.Matched) error {
	var all, broken int64
	var worst trace.Time
	err := a.matcher.Operations(ctx, func(o *match.Operation) {
		all++
		if d := o.Broken(); d > 0 {
			broken++
			worst = max(worst, d)
		}
	})
	if err != nil {
		return err
	}
	advice := "the clocks of the processes were never corrected; --align messages or --align collectives fits them"
	if a.lines != nil {
		advice = "after alignment"
	}
	if messages.Backwards > 0 {
		a.w.Report(trace.Guessed, "messages that arrive before they are sent: "+advice, messages.Backwards,
			fmt.Sprintf("of %d messages; the worst by %v", messages.Links, duration(messages.Worst)))
	}
	if broken > 0 {
		a.w.Report(trace.Guessed, "collectives that a process leaves before another has entered: "+advice, broken,
			fmt.Sprintf("of %d collectives; the worst by %v", all, duration(worst)))
	}
	return nil
}

// fit looks at all messages and collectives and fits the clocks, where the user
// asks for it. Groups of processes that exchange no messages are joined by
// collectives, and the other way round.
func (a *archive) fit(ctx context.Context) error {
	by := a.run.Options.Align
	if by != "messages" && by != "collectives" {
		return nil
	}
	a.matcher = match.New(a.matchMemory(), 0, len(a.tree.processes))
	defer func() { a.matcher.Close() }()
	run := a.run
	a.run.Progress = nil // this reading is not the import
	err := a.readLocations(ctx, func(r *row, ctx context.Context, _ string) error { return r.scan(ctx) })
	a.run = run
	a.ledger = ledger{}
	if err != nil {
		return err
	}
	r, pairs, err := a.solve(ctx, by)
	if err != nil {
		return err
	}
	label := base(a.files.anchor)
	if pairs == 0 {
		a.w.Report(trace.Skipped, "alignment by "+by+": the trace holds none that compare clocks, so nothing is moved",
			1, label)
		return nil
	}
	a.lines = r.Lines
	what := fmt.Sprintf("largest offset %v, residual %v", duration(r.Largest), duration(r.Residual))
	if r.Drifting > 0 {
		what += fmt.Sprintf(", %d clocks drift", r.Drifting)
	}
	a.w.Report(trace.Repaired, "processes whose clocks were moved, as asked by --align "+by, int64(r.Moved), what)
	if r.Groups > 1 {
		a.w.Report(trace.Guessed,
			"groups of processes that share neither messages nor collectives: their clocks are not aligned with each "+
				"other", int64(r.Groups), label)
	}
	a.w.Property("clock alignment", fmt.Sprintf("by %s, from %d pairs of processes: %s", by, pairs, what))
	return nil
}

// An exchange is a pair as clocks see it.
type exchange struct {
	kind, from, to int
	cause, effect  trace.Time
}

// solve fits by what was asked for, and by the other where that leaves groups apart.
func (a *archive) solve(ctx context.Context, by string) (*align.Result, int, error) {
	f := align.New(len(a.tree.processes))
	messages := func() error {
		_, err := match.JoinAll(ctx, a.matcher, 1, match.Output[exchange]{
			Fill: func(x *exchange, p *match.Pair) {
				*x = exchange{kind: int(p.Key.Kind), from: int(p.Key.B), to: int(p.Key.C), cause: p.Cause.Time,
					effect: p.Effect.Time}
			},
			Take: func(list []exchange) {
				for _, x := range list {
					if x.kind == int(match.Message) {
						f.Before(x.from, x.to, x.cause, x.effect)
					}
				}
			},
		})
		return err
	}
	collectives := func() error {
		return a.matcher.Operations(ctx, func(o *match.Operation) {
			o.Pairs(func(from, to uint32, cause, effect trace.Time) { f.Before(int(from), int(to), cause, effect) })
		})
	}
	first, second, other := messages, collectives, "collectives"
	if by == "collectives" {
		first, second, other = collectives, messages, "messages"
	}
	if err := first(); err != nil {
		return nil, 0, err
	}
	r := f.Solve()
	if r.Groups == 1 {
		return r, f.Pairs(), nil
	}
	before, apart := f.Pairs(), r.Groups
	if err := second(); err != nil {
		return nil, 0, err
	}
	if f.Pairs() > before {
		r = f.Solve()
		a.w.Report(trace.Guessed, "groups of processes without "+by+" between them, aligned by "+other,
			int64(apart-r.Groups+1), base(a.files.anchor))
	}
	return r, f.Pairs(), nil
}

// duration words a time for people.
func duration(t trace.Time) string {
	switch {
	case t < 10_000:
		return fmt.Sprintf("%d ns", t)
	case t < 10_000_000:
		return fmt.Sprintf("%.4g µs", float64(t)/1e3)
	case t < 10_000_000_000:
		return fmt.Sprintf("%.4g ms", float64(t)/1e6)
	}
	return fmt.Sprintf("%.6g s", float64(t)/1e9)
}
