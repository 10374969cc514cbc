package routetest

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// capacity is the most that anything in a window can add up to: its length on each
// location, once.
func (r *Run) capacity() float64 {
	return float64(r.Window.End-r.Window.Begin) * float64(len(r.holders(&r.Window)))
}

var activityRoute = Route{Options: []map[string]string{nil, {"bins": "7"}, {"by": "busy", "bins": "5"},
	{"by": "regions", "bins": "4", "top": "100"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Locations int
		Bins      []struct {
			Begin, End trace.Time
			Shares     map[string]float64
		}
	}
	r.Data(&d)
	ids := r.holders(&r.Window)
	r.same("locations", float64(d.Locations), float64(len(ids)))
	states := map[trace.LocationID][]state{}
	for _, id := range ids {
		states[id] = r.states(id, r.Window.Begin, r.Window.End)
	}
	at := r.Window.Begin
	for _, b := range d.Bins {
		if b.Begin != at || b.End <= b.Begin {
			r.wrong("bin [%d, %d) follows %d", b.Begin, b.End, at)
		}
		at = b.End
		all := 0.0
		for name, s := range b.Shares {
			if s < -1e-12 || s > 1+1e-12 {
				r.wrong("share of %s is %v", name, s)
			}
			all += s
		}
		r.same("all shares of a bin", all, 1)
		if r.Window.Regions != nil || r.Options["by"] == "regions" && r.sharesLanes() {
			continue
		}
		want := map[string]float64{}
		whole := float64(b.End-b.Begin) * float64(len(ids))
		for _, id := range ids {
			for _, s := range states[id] {
				t := float64(max(0, min(s.End, b.End)-max(s.Begin, b.Begin))) / whole
				want[r.activityName(s)] += t
			}
		}
		for name, share := range b.Shares {
			r.same(fmt.Sprintf("share of %s from %d", name, b.Begin), share, want[name])
			delete(want, name)
		}
		for name, t := range want {
			if t > 1e-12 {
				r.wrong("%s has the share %v from %d and is not stated", name, t, b.Begin)
			}
		}
	}
	if at != r.Window.End {
		r.wrong("the last bin ends at %d", at)
	}
}}

// sharesLanes reports whether a location has several lanes, so that the region of an
// instant is a choice.
func (x *Raw) sharesLanes() bool {
	for _, lanes := range x.of {
		if len(lanes) > 1 {
			return true
		}
	}
	return false
}

func (r *Run) activityName(s state) string {
	switch r.Options["by"] {
	case "busy":
		if s.Role.Busy() {
			return "busy"
		}
		if s.Role == trace.RoleNone {
			return "none"
		}
		return "idle"
	case "regions":
		if len(s.Rows) == 0 {
			return "none"
		}
		at := s.Rows[0]
		id := r.Lanes[at[0]].Rows[at[1]].Region
		return r.Regions[id].Name
	}
	if s.Role == trace.RoleNone {
		return "none"
	}
	return s.Role.String()
}

var momentsRoute = Route{Options: []map[string]string{nil, {"moments": "5"}}, Check: func(r *Run) {
	if r.Result == nil || r.Window.Regions != nil {
		return
	}
	var d struct {
		Rows []struct {
			Location           trace.LocationID
			M0                 float64
			M1, M2, M3, M4, M5 *float64
		}
	}
	r.Data(&d)
	ids := r.holders(&r.Window)
	r.same("rows", float64(len(d.Rows)), float64(len(ids)))
	for _, x := range d.Rows {
		bars := r.busy(x.Location, r.Window.Begin, r.Window.End)
		m0, m1 := 0.0, 0.0
		for _, b := range bars {
			m0 += float64(b[1] - b[0])
		}
		what := fmt.Sprintf(" of location %d", x.Location)
		r.same("m0"+what, x.M0, m0)
		if m0 == 0 {
			if x.M1 != nil || x.M2 != nil {
				r.wrong("moments without busy time%s", what)
			}
			continue
		}
		if x.M1 == nil || x.M2 == nil || x.M3 == nil {
			r.wrong("no moments%s", what)
			continue
		}
		for _, b := range bars {
			m1 += float64(b[1]-b[0]) / m0 * (float64(b[0]-r.Window.Begin) + float64(b[1]-r.Window.Begin)) / 2
		}
		mu := func(k float64) (s float64) {
			for _, b := range bars {
				from, to := float64(b[0]-r.Window.Begin)-m1, float64(b[1]-r.Window.Begin)-m1
				s += (math.Pow(to, k+1) - math.Pow(from, k+1)) / (k + 1) / m0
			}
			return s
		}
		m2 := math.Sqrt(3 * mu(2))
		r.closeSpread("m1"+what, *x.M1, m1, m2)
		r.closeSpread("m2"+what, *x.M2, m2, m2)
		if got := *x.M3 * *x.M3 * *x.M3 / 27; math.Abs(got-mu(3)) > 1e-6*m2*m2*m2 {
			r.wrong("the third moment%s is %v, recomputed %v", what, got, mu(3))
		}
		if x.M5 != nil {
			if got := math.Copysign(math.Pow(math.Abs(*x.M5)/3, 5), *x.M5); math.Abs(got-mu(5)) > 1e-5*math.Pow(m2, 5) {
				r.wrong("the fifth moment%s is %v, recomputed %v", what, got, mu(5))
			}
		}
	}
}}

var phasesRoute = Route{Options: []map[string]string{{"phase": "slices:6"},
	{"phase": "slices:3", "group": "locations"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Phases []struct {
			Name                          string
			Begin, End                    trace.Time
			Busy, Waiting, Skew, Transfer float64
		}
		Rows []struct {
			Location      trace.LocationID
			Phase         string
			Begin, End    trace.Time
			Busy, Waiting float64
		}
	}
	r.Data(&d)
	units, of := r.units()
	sums := map[string][2]float64{}
	for _, x := range d.Rows {
		busy, waiting, most := 0.0, 0.0, 0.0
		for id, u := range of {
			if u != x.Location {
				continue
			}
			t := r.roleTime(id, x.Begin, x.End)
			most += float64(x.End - x.Begin)
			for role, v := range t {
				switch trace.Role(role) {
				case trace.RoleCompute, trace.RoleIO, trace.RoleCopy:
					busy += float64(v)
				case trace.RoleCommunication, trace.RoleSynchronization, trace.RoleIdle:
					waiting += float64(v)
				}
			}
		}
		if x.Busy+x.Waiting > most+1e-9 {
			r.wrong("%s of location %d: busy %v and waiting %v in %v", x.Phase, x.Location, x.Busy, x.Waiting, most)
		}
		if r.Window.Regions == nil {
			r.same(fmt.Sprintf("busy of location %d in %s", x.Location, x.Phase), x.Busy, busy)
			r.same(fmt.Sprintf("waiting of location %d in %s", x.Location, x.Phase), x.Waiting, waiting)
		}
		s := sums[x.Phase]
		sums[x.Phase] = [2]float64{s[0] + x.Busy, s[1] + x.Waiting}
	}
	r.same("rows", float64(len(d.Rows)), float64(len(units)*len(d.Phases)))
	at := r.Window.Begin
	for _, p := range d.Phases {
		if p.Begin != at {
			r.wrong("phase %s begins at %d, the one before ended at %d", p.Name, p.Begin, at)
		}
		at = p.End
		r.same("busy of "+p.Name, p.Busy, sums[p.Name][0])
		r.same("waiting of "+p.Name, p.Waiting, sums[p.Name][1])
	}
	if at != r.Window.End {
		r.wrong("the last phase ends at %d", at)
	}
}}

// useful is the busy time of each holder.
func (r *Run) useful() (out []float64) {
	for _, id := range r.holders(&r.Window) {
		t := r.roleTime(id, r.Window.Begin, r.Window.End)
		out = append(out, float64(t[trace.RoleCompute]+t[trace.RoleIO]+t[trace.RoleCopy]))
	}
	return out
}

// answerRoute: the numbers of findings are held by their own route; here the sentence that nothing stands out is, by
// the work that was recorded.
var answerRoute = Route{Check: func(r *Run) {
	if r.Result == nil || !r.timed() || r.Window.Regions != nil {
		return
	}
	var d struct {
		Kind, Text, Next string
		Lost, Share      float64
		Proof            []struct {
			Name  string
			Value float64
		}
	}
	r.Data(&d)
	if d.Text == "" || d.Next == "" {
		r.wrong("it says %q and advises %q", d.Text, d.Next)
	}
	if d.Share < 0 || d.Share > 1+1e-9 || d.Lost < 0 {
		r.wrong("%v lost, %v of the time", d.Lost, d.Share)
	}
	if d.Kind != "" || len(d.Proof) == 0 {
		return
	}
	recorded := 0.0
	for _, t := range r.useful() {
		recorded += t
	}
	if work := d.Proof[0].Value; work > recorded*(1+1e-9) {
		r.wrong("%v of work, and %v was recorded", work, recorded)
	}
}}

var findingsRoute = Route{Check: func(r *Run) {
	if r.Result == nil || !r.timed() || r.Window.Regions != nil {
		return
	}
	var d struct {
		POP struct {
			Locations                         int
			Useful_mean, Useful_max, Runtime  float64
			Load_balance, Parallel_efficiency *float64
			Communication_efficiency          *float64
		}
		Findings []struct {
			Kind, Text string
			Lost       float64
			Share      float64
			Selection  struct{ Begin, End trace.Time }
		}
	}
	r.Data(&d)
	useful := r.useful()
	length := float64(r.Window.End - r.Window.Begin)
	mean, _, _, high := spread(useful)
	p := d.POP
	if p.Locations == len(useful) { // over fewer where some are not compared, which the notes say
		r.same("useful mean", p.Useful_mean, mean)
		r.same("useful max", p.Useful_max, high)
		if p.Locations > 1 { // one alone counts from its first to its last
			r.same("runtime", p.Runtime, length)
		}
		if high > 0 && p.Load_balance != nil {
			r.same("load balance", *p.Load_balance, mean/high)
			if p.Communication_efficiency != nil { // null if no unit communicates
				r.same("communication efficiency", *p.Communication_efficiency, high/length)
			}
			r.same("parallel efficiency", *p.Parallel_efficiency, mean/length)
		}
	}
	for _, e := range []*float64{p.Load_balance, p.Parallel_efficiency, p.Communication_efficiency} {
		if e != nil && (*e < 0 || *e > 1+1e-9) {
			r.wrong("an efficiency of %v", *e)
		}
	}
	for _, f := range d.Findings {
		if f.Lost < 0 || f.Lost > r.capacity()*(1+1e-9) {
			r.wrong("%s: %v lost of %v that there is", f.Kind, f.Lost, r.capacity())
		}
		if f.Selection.Begin < r.Window.Begin || f.Selection.End > r.Window.End {
			r.wrong("%s selects [%d, %d)", f.Kind, f.Selection.Begin, f.Selection.End)
		}
	}
}}

var contrastRoute = Route{Options: []map[string]string{{"by": "region", "group": "locations"}}, Check: func(r *Run) {
	if r.Result == nil || !r.timed() {
		return
	}
	var d struct {
		A, B struct {
			Locations []trace.LocationID
			Times     [][2]trace.Time
		}
		Rows []struct {
			Kind, Name, Unit string
			A, B             float64
			Mean_a, Mean_b   float64
		}
	}
	r.Data(&d)
	side := func(ids []trace.LocationID, times [][2]trace.Time, name, unit string) (out []float64) {
		length := 0.0
		sums := make([]float64, len(ids))
		for _, t := range times {
			length += float64(t[1] - t[0])
			w := r.window(trace.Selection{Begin: t[0], End: t[1]})
			totals := r.totals(&w)
			for i, id := range ids {
				sums[i] += r.named(totals, id, name, "exclusive")
			}
		}
		for _, v := range sums {
			if unit == "share" {
				v /= length
			}
			out = append(out, v)
		}
		return out
	}
	for _, x := range d.Rows {
		if x.Kind != "region" || r.Window.Regions != nil {
			continue
		}
		a, b := side(d.A.Locations, d.A.Times, x.Name, x.Unit), side(d.B.Locations, d.B.Times, x.Name, x.Unit)
		r.same("median of A of "+x.Name, x.A, median(a))
		r.same("median of B of "+x.Name, x.B, median(b))
		r.same("mean of A of "+x.Name, x.Mean_a, add(a)/float64(len(a)))
		r.same("mean of B of "+x.Name, x.Mean_b, add(b)/float64(len(b)))
	}
}}

func median(v []float64) float64 { return quantile(v, 0.5) }

var commmatrixRoute = Route{Options: []map[string]string{nil, {"group": "location"}}, Check: func(r *Run) {
	type key struct{ from, to trace.LocationID }
	type cells struct {
		count, bytes, time float64
		sized, timed       bool
	}
	want := map[key]*cells{}
	kinds := map[bool]int{}
	for pass := range 2 {
		for _, l := range r.Links {
			in := r.in(&r.Window, l.From) || r.in(&r.Window, l.To)
			if !in || !l.Untimed && r.timed() && (l.FromTime < r.Window.Begin || l.FromTime >= r.Window.last) {
				continue
			}
			message := l.Kind == trace.LinkMessage
			if pass == 0 {
				kinds[message]++
				continue
			}
			if message != (kinds[true] > 0) {
				continue
			}
			k := key{r.level(l.From), r.level(l.To)}
			if want[k] == nil {
				want[k] = &cells{}
			}
			c := want[k]
			c.count += float64(l.Count)
			if l.Size >= 0 {
				c.bytes, c.sized = c.bytes+float64(l.Size), true
			}
			if !l.Untimed {
				c.time, c.timed = c.time+float64(l.ToTime-l.FromTime), true
			}
		}
	}
	if r.Result == nil {
		if len(want) > 0 {
			r.wrong("says %v", r.Empty)
		}
		return
	}
	var d struct {
		Pairs int
		Count float64
		Cells []struct {
			From, To    trace.LocationID
			Count       float64
			Bytes, Time *float64
		}
	}
	r.Data(&d)
	r.same("pairs", float64(len(d.Cells)), float64(len(want)))
	all := 0.0
	for _, c := range d.Cells {
		w := want[key{c.From, c.To}]
		if w == nil {
			r.wrong("%d → %d never happens", c.From, c.To)
			continue
		}
		what := fmt.Sprintf(" %d → %d", c.From, c.To)
		r.same("count"+what, c.Count, w.count)
		all += c.Count
		if w.sized != (c.Bytes != nil) || w.timed != (c.Time != nil) {
			r.wrong("what is known of%s", what)
			continue
		}
		if c.Bytes != nil {
			r.same("bytes"+what, *c.Bytes, w.bytes)
		}
		if c.Time != nil {
			r.same("time"+what, *c.Time, w.time)
		}
	}
	r.same("count", d.Count, all)
}}

// level is the process of a location.
func (r *Run) level(id trace.LocationID) trace.LocationID {
	if r.Options["group"] == "location" {
		return id
	}
	for up := id; up != trace.NoLocation; up = r.Tree.Parent[up] {
		if r.Tree.Kind[up] == trace.KindProcess {
			return up
		}
	}
	return id
}

var timelineRoute = Route{Options: []map[string]string{{"all": "true"}, {"group": ""}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Rows []struct {
			Location *trace.LocationID
		}
		Spans []struct {
			Row, Lane, Depth int
			Begin, End       trace.Time
			Region           *string
			Open             float64
			Count            float64
			Aggregated       bool
		}
	}
	r.Data(&d)
	if r.Options["all"] == "" {
		for _, s := range d.Spans {
			if s.Open < 0 || s.Open > float64(s.End-s.Begin)*math.Max(1, s.Count) {
				r.wrong("a span [%d, %d) of %v is open for %v", s.Begin, s.End, s.Count, s.Open)
			}
		}
		return
	}
	type key struct {
		location   trace.LocationID
		begin, end trace.Time
		region     string
	}
	got, want := map[key]int{}, map[key]int{}
	for _, s := range d.Spans {
		got[key{*d.Rows[s.Row].Location, s.Begin, s.End, *s.Region}]++
	}
	r.lanes(&r.Window, func(l *Lane) {
		for _, x := range l.Rows {
			if r.Window.shows(x.Region) && (r.Window.begins(x) || x.Begin < r.Window.Begin && x.End > r.Window.Begin) {
				want[key{l.Location, x.Begin, x.End, r.Regions[x.Region].Name}]++
			}
		}
	})
	for k, n := range want {
		if got[k] != n {
			r.wrong("interval %v: %d times, recorded %d", k, got[k], n)
		}
	}
	for k, n := range got {
		if want[k] == 0 {
			r.wrong("interval %v: %d times, and never recorded", k, n)
		}
	}
}}
