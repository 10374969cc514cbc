package otf2

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Report lines for halves that stay alone. A thread may begin without a
// creation, as the first one does, and end without being waited for.
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

const unsureWords = "sends and receives that cannot be paired, since receives of their process are missing"

// link joins the ends of links, and says who took part in collective operations, by which clocks are compared.
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
		a.report(trace.MissingLinks, aloneWords[k][0], s.Causes, name)
		a.report(trace.MissingLinks, aloneWords[k][1], s.Effects, name)
	}
	a.report(trace.MissingLinks, unsureWords, stats[match.Message].Unsure, name)
	return a.meet(ctx)
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

// meet records who took part in each collective operation.
func (a *archive) meet(ctx context.Context) error {
	return a.matcher.Operations(ctx, func(m *trace.Meeting) {
		for i := range m.Members {
			x := &m.Members[i]
			x.Location = a.tree.processes[x.Location].place
		}
		trace.Meet(a.w, m)
	})
}
