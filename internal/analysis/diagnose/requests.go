package diagnose

// Faults of requests of services: slow, repeated, serial, retried and failed calls.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/latency"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// findRequestFaults finds the causes of time lost in requests of services. Services are no peers, so no other rule
// runs. A selection of regions has no whole to compare with, and yields nothing.
func findRequestFaults(c *diagnosis) error {
	if !c.spans || len(c.processors) > 0 || c.question.Selection.Regions != nil {
		return nil
	}
	forest, list, found, err := requestFaults(c)
	if err != nil {
		return err
	}
	if n := requests.AsynchronousNote(forest, list); n != "" {
		c.notes = append(c.notes, n)
	}
	for i := range found.Faults {
		w := faultWords{c, forest, found, &found.Faults[i], nil}
		w.add()
	}
	return nil
}

// requestFaults finds the requests that are selected and their faults, unless these are kept.
func requestFaults(c *diagnosis) (*request.Forest, []int32, *latency.Found, error) {
	run, w := c.question.Run, c.question.window()
	if kept := requests.FindOverviewIn(run, w); kept != nil {
		return kept.Forest(), requests.In(kept.Forest(), run, w), kept.Found, nil
	}
	chosen, err := requests.Choose(c.ctx, run, w, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	found, err := latency.Find(chosen.Forest, chosen.Source, chosen.List)
	return chosen.Forest, chosen.List, found, err
}

// faultWords words a fault of requests.
type faultWords struct {
	*diagnosis
	forest *request.Forest
	found  *latency.Found
	x      *latency.Fault
	proof  []finding.Evidence
}

func (w *faultWords) op(o latency.Op) string {
	return w.tree.Name[o.Service] + ": " + words.Middle(w.regions[o.Region].Name)
}

func (w *faultWords) count(name string, n int64, from string) string {
	w.proof = append(w.proof, finding.Evidence{Name: name, Value: float64(n), Unit: "count", From: from})
	return words.Thousands(n)
}

// ask asks for something of the losses by the fault.
func (w *faultWords) ask(what string) string {
	x, names := w.x, make([]string, len(w.x.Ops))
	full := func(o latency.Op) string { return w.tree.Name[o.Service] + ": " + w.regions[o.Region].Name }
	for i, o := range x.Ops {
		names[i] = full(o)
	}
	caller := ""
	if x.Caller != (latency.Op{}) {
		caller = full(x.Caller)
	}
	return fmt.Sprintf("with l as (select * from request_losses(%d, %d) where kind = %s and known = %d and caller = "+
		"%s and operation = %s), r as (select distinct request, request_time from l) select %s", w.window.Begin,
		w.window.End, quoted(string(x.Kind)), boolInt(x.Known), quoted(caller), quoted(strings.Join(names, ", ")), what)
}

// allRequests counts the requests.
func (w *faultWords) allRequests() string {
	return fmt.Sprintf("select count(distinct request) from request_calls(%d, %d)", w.window.Begin, w.window.End)
}

// callsOf asks for something of all calls of an operation.
func (w *faultWords) callsOf(o latency.Op, what, more string) string {
	return fmt.Sprintf("select %s from request_calls(%d, %d) where service = %d and region_id = %d%s", what,
		w.window.Begin, w.window.End, o.Service, o.Region, more)
}

// say keeps a number as evidence, with the query that gives it again, and writes it.
func (w *faultWords) say(name string, v float64, unit, from string) string {
	e := finding.Evidence{Name: name, Value: v, Unit: unit, From: from}
	w.proof = append(w.proof, e)
	return Format(e)
}

// pathQuery asks for something of the critical paths of the requests; "" of a part of the locations.
func (w *faultWords) pathQuery(what, where string) string {
	return fmt.Sprintf("select %s from critical_path(null, %d, %d)%s", what, w.window.Begin, w.window.End, where)
}

// pathTime asks for the time of an operation on the critical paths.
func (w *faultWords) pathTime(o latency.Op) string {
	return w.pathQuery("total(duration)", fmt.Sprintf(" where region_id = %d and service = %s", o.Region,
		quoted(w.tree.Name[o.Service])))
}

// ratioOf asks for the answer of one query as a part of another's.
func ratioOf(a, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return fmt.Sprintf("select (%s) / (%s)", a, b)
}

// requests describes how many lose by it: "12 of 400 requests".
func (w *faultWords) requests() string {
	n := w.count("requests that lose by it", int64(w.x.Requests), w.ask("count(*) from r"))
	if w.x.Requests == w.found.Requests {
		if w.x.Requests == 1 {
			return "the request"
		}
		return "all " + n + " requests"
	}
	return n + " of " + w.count("requests", int64(w.found.Requests), w.allRequests()) + " requests"
}

// loss describes how much that is: "1.2 s, 31.0 % of their time".
func (w *faultWords) loss() string {
	return fmt.Sprintf("%s, %s of %s", w.say("lost", float64(w.x.Lost), "ns", w.ask("total(lost) from l")),
		w.say("lost, of the time of those requests", w.hit(), "share",
			w.ask("(select total(lost) from l) / (select total(request_time) from r)")),
		words.Plural(w.x.Requests, "its time", "their time"))
}

func (w *faultWords) hit() float64 { return float64(w.x.Lost) / float64(max(w.x.Time, 1)) }

func (w *faultWords) add() {
	x := w.x
	level := finding.LevelOf(w.hit())
	var text string
	switch x.Kind {
	case finding.SlowOperation:
		text, level = w.slow(level)
	case finding.RepeatedCalls:
		text = fmt.Sprintf("N+1 calls: %s calls %s %s times one after the other%s. One call for all would save %s "+
			"at most %s.",
			w.op(x.Caller), w.op(x.Ops[0]), w.count("calls", x.Calls, w.ask("total(calls) from l")), w.callers(),
			w.requests(), w.loss())
	case finding.SerialCalls:
		text, level = w.serial(level)
	case finding.Retry:
		text = fmt.Sprintf("%s fails, and %s calls it again, %s %s. The failed calls and the pauses after them cost "+
			"%s "+
			"%s.", w.op(x.Ops[0]),
			w.op(x.Caller), w.count("calls made again", x.Calls, w.ask("count(*) from l")), words.Plural(int(x.Calls),
				"time", "times"),
			w.requests(),
			w.loss())
	case finding.FailedCalls:
		share := float64(x.Requests) / float64(max(w.found.Requests, 1))
		level = finding.Medium
		if share >= finding.HighShare {
			level = finding.High
		}
		in := w.requests()
		if x.Requests < w.found.Requests {
			in += " (" + w.say("share of the requests", share, "share",
				ratioOf(w.ask("count(*) * 1.0 from r"), w.allRequests())) + ")"
		}
		calls := w.count("failed calls", x.Calls, w.ask("count(*) from l"))
		text = fmt.Sprintf("%s fails while %s %s for it, in %s %s: %s.", w.op(x.Ops[0]), in,
			words.Plural(x.Requests, "waits", "wait"), calls, words.Plural(int(x.Calls), "call", "calls"), w.loss())
	}
	text += w.shared()
	f := finding.Finding{Kind: x.Kind, Severity: level, Lost: x.Lost, Hit: w.hit(),
		Share: float64(x.Lost) / float64(max(w.found.Length, 1)), ShareOf: "the time of all requests", Text: text,
		View: "requests", Subjects: []trace.LocationID{w.subject()}, Evidence: w.proof,
		Options: map[string][]string{}, Selection: w.selection()}
	if id := w.forest.Requests[x.Worst].ID; id != "" {
		f.Options["request"] = []string{id} // the one that loses most
	}
	w.diagnosis.add(f, nil)
	if assumed := assumedRequests[x.Kind]; assumed != "" && (x.Kind != finding.SlowOperation || x.All > 0) {
		w.sumGain(float64(x.Lost), float64(x.Time), "the affected requests", assumed,
			spread{x.Requests, float64(x.Lost), x.Squares})
	}
}

// subject is the service that makes the calls one by one, else the instance or the service that is slow or fails.
func (w *faultWords) subject() trace.LocationID {
	switch x := w.x; {
	case x.Kind == finding.RepeatedCalls || x.Kind == finding.SerialCalls:
		return x.Caller.Service
	case x.Kind == finding.SlowOperation && x.At != trace.NoLocation && x.All > 0:
		return x.At
	default:
		return x.Ops[0].Service
	}
}

// selection is the caller and the called, or the one instance that is slow, and their operations.
func (w *faultWords) selection() (s finding.Selection) {
	add := func(o latency.Op) {
		if !slices.Contains(s.Locations, o.Service) {
			s.Locations = append(s.Locations, o.Service)
		}
		if !slices.Contains(s.Regions, o.Region) {
			s.Regions = append(s.Regions, o.Region)
		}
	}
	if w.x.Caller != (latency.Op{}) {
		add(w.x.Caller)
	}
	for _, o := range w.x.Ops {
		add(o)
	}
	if w.x.Caller == (latency.Op{}) {
		s.Locations = []trace.LocationID{w.subject()}
	}
	slices.Sort(s.Locations)
	slices.Sort(s.Regions)
	return s
}

// callers describes how the calls are spread over callers, if there are several.
func (w *faultWords) callers() string {
	if w.x.Callers == 1 {
		return ""
	}
	return fmt.Sprintf(", for %s callers and up to %s times for one", w.count("callers", w.x.Callers,
		w.ask("count(*) from l")),
		w.count("calls of one caller", w.x.MostCalled, w.ask("max(calls) from l")))
}

// assumedRequests is the assumption of a prediction, by kind.
var assumedRequests = map[finding.Kind]string{
	finding.SlowOperation: "all calls took as long as the median", finding.RepeatedCalls: "one call did for all",
	finding.SerialCalls: "the calls were made at once", finding.Retry: "the first call did not fail",
}

// shared names the common features of the requests that lose by it: " 82 of the 82 …".
func (w *faultWords) shared() string {
	x := w.x.Shared
	if x == nil {
		return ""
	}
	of := func(name string, share float64, all int) string {
		return w.count(name, int64(math.Round(share*float64(all))), "")
	}
	others := w.found.Requests - w.x.Requests
	return fmt.Sprintf(" They share %s: %s of these %s requests have it, and %s of the other %s.", x.Label(),
		of("of these requests, that have it", x.Inside, w.x.Requests), words.Thousands(int64(w.x.Requests)),
		of("of the other requests, that have it", x.Outside, others), words.Thousands(int64(others)))
}

func (w *faultWords) slow(level finding.Level) (string, finding.Level) {
	x := w.x
	if x.All == 0 { // too few requests to know what is usual
		own, all := w.pathTime(x.Ops[0]), w.pathQuery("total(duration)", "")
		w.say("requests last", float64(w.found.Length), "ns", all)
		return fmt.Sprintf("%s takes %s of the %s of %s by itself, %s.", w.op(x.Ops[0]),
			w.say("lost", float64(x.Lost), "ns", own), words.FormatTime(w.found.Length), w.requests(),
			w.say("lost, of the time of those requests", w.hit(), "share",
				w.ask("(select total(lost) from l) / (select total(request_time) from r)"))), finding.Low
	}
	text := fmt.Sprintf("%s is sometimes slow: the self time of %s of its %s calls is %s on average, and the median "+
		"of all is %s", w.op(x.Ops[0]), w.count("slow calls", x.Calls, w.ask("count(*) from l")),
		w.count("calls", x.All, w.callsOf(x.Ops[0], "count(*)", "")),
		w.say("mean of the slow calls", x.Mean, "ns", w.ask("avg(self) from l")),
		w.say("median of all calls", float64(x.Median), "ns", w.callsOf(x.Ops[0], "self",
			fmt.Sprintf(" order by self limit 1 offset %d", x.All/2))))
	if x.At != trace.NoLocation {
		text += fmt.Sprintf(". %s of the lost time is at %s", w.say("of what is lost, at that location", x.AtShare,
			"share",
			w.ask(fmt.Sprintf("total(iif(location = %d, lost, 0)) / total(lost) from l", x.At))),
			w.tree.Path(x.At))
	}
	return text + fmt.Sprintf(". Because of that, %s waited %s.", w.requests(), w.loss()), level
}

func (w *faultWords) serial(level finding.Level) (string, finding.Level) {
	x := w.x
	names := make([]string, len(x.Ops))
	for i, o := range x.Ops {
		names[i] = w.op(o)
	}
	n := len(names)
	text := fmt.Sprintf("%s calls %s and %s one after the other", w.op(x.Caller), strings.Join(names[:n-1], ", "),
		names[n-1])
	if !x.Known {
		return text +
			fmt.Sprintf(", each as soon as the one before has ended. If the calls are independent, calling in "+
				"parallel would save %s at most %s.", w.requests(), w.loss()), level.AtMost(finding.Medium)
	}
	return text +
		fmt.Sprintf(". %s make these calls in another order or in parallel, so they are independent. Parallel "+
			"calls would save %s at most %s.",
			w.count("callers that make them otherwise", x.OtherWise, w.ask("max(otherwise) from l"))+" "+
				words.Plural(int(x.OtherWise), "caller", "callers"),
			w.requests(), w.loss()), level
}
