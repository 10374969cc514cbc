package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A computer reads requests and computes their results, once for all that are equal.
type computer struct {
	answerer

	runs    *registry
	cache   *cache
	limiter *computeLimiter
}

// Limits of a request.
const (
	maxQuery    = 128 << 10 // ten thousand ids of locations, and more
	maxBody     = 1 << 20
	maxPatterns = 256 // values of one parameter
	maxSide     = 16384
	maxPixels   = 64 << 20
	maxWith     = maxRuns - 1 // runs compared at once
)

// reserved are the parameters that are not options of a view.
var reserved = map[string]bool{
	"from": true, "to": true, "locations": true, "regions": true, "width": true, "height": true, "with": true,
	"x": true, "y": true, "format": true, "theme": true, "region-colours": true, "hues": true, "offset": true,
	"limit": true, "sort": true, "colours-of": true,
	"descending": true,
	"panel":      true, "seq": true, "size": true, "letter": true, "coarse": true, "item": true, "have": true,
}

// A viewRequest is a request for a view as it was written; it is resolved against
// the run only when it must be computed.
type viewRequest struct {
	view    *view.View
	runs    []*run
	spec    view.Spec
	options map[string][]string
	size    scene.Size
	// colours is the run whose regions give those of the first run their colours; nil: its own.
	colours *run
}

// parseView reads the part of a request that decides the result.
func (s *computer) parseView(q url.Values, x *run, name string) (*viewRequest, error) {
	at := slices.IndexFunc(s.config.Views, func(v *view.View) bool { return v.Name == name })
	if at < 0 {
		return nil,
			&apiError{Status: http.StatusNotFound, Kind: "not-found", Message: "there is no view " + quoteShort(name) +
				words.Suggest(name, s.viewNames()), Hint: "/api/views lists them"}
	}
	out := &viewRequest{view: s.config.Views[at], runs: []*run{x}, options: map[string][]string{}}
	var err error
	if out.spec, err = parseSpec(q); err != nil {
		return nil, err
	}
	if out.size, err = parseSize(q); err != nil {
		return nil, err
	}
	for key, values := range q {
		if reserved[key] {
			continue
		}
		if len(values) > maxPatterns {
			return nil, tooMany(key, len(values))
		}
		out.options[key] = values
	}
	if _, err := view.NewValues(out.view, out.options); err != nil {
		return nil, usage(err)
	}
	return out, nil
}

func (s *computer) viewNames() (names []string) {
	for _, v := range s.config.Views {
		names = append(names, v.Name)
	}
	return names
}

func parseSpec(q url.Values) (view.Spec, error) {
	for _, key := range []string{"locations", "regions"} {
		if n := len(q[key]); n > maxPatterns {
			return view.Spec{}, tooMany(key, n)
		}
	}
	clean := func(patterns []string) []string {
		out := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p == "" })
		slices.Sort(out)
		return slices.Compact(out)
	}
	return view.Spec{From: q.Get("from"), To: q.Get("to"), Locations: clean(q["locations"]),
		Regions: clean(q["regions"])}, nil
}

func tooMany(key string, n int) error {
	return usage(fmt.Errorf("%s is given %d times, want at most %d; use patterns", key, n, maxPatterns))
}

func parseSize(q url.Values) (scene.Size, error) {
	side := func(key string, def int) (int, error) {
		text := q.Get(key)
		if text == "" {
			return def, nil
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= 1 && f <= maxSide) {
			return 0, usage(fmt.Errorf("%s %s: want pixels from 1 to %d", key, quoteShort(text), maxSide))
		}
		return int(math.Round(f)), nil
	}
	w, err := side("width", 1200)
	if err != nil {
		return scene.Size{}, err
	}
	h, err := side("height", 700)
	if err == nil && w*h > maxPixels {
		err = usage(fmt.Errorf("%d × %d pixels are too many, want at most %d together", w, h, maxPixels))
	}
	return scene.Size{Width: w, Height: h}, err
}

// page reads offset and limit.
func page(r *http.Request, def, most int) (offset, limit int, err error) {
	number := func(key string, def, most int) int {
		text := r.URL.Query().Get(key)
		if text == "" {
			return def
		}
		n, e := strconv.Atoi(text)
		if e != nil || n < 0 {
			err = usage(fmt.Errorf("%s %s: want a whole number", key, quoteShort(text)))
		}
		return min(n, most)
	}
	return number("offset", 0, math.MaxInt32), number("limit", def, most), err
}

// key names the request: equal keys give equal results. Every part is quoted, so
// that no two requests share one.
func (q *viewRequest) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "view %q", q.view.Name)
	for _, x := range q.runs {
		fmt.Fprintf(&b, " %q %d", x.id, x.Store.Generation())
	}
	if q.colours != nil {
		fmt.Fprintf(&b, " colours of %q %d", q.colours.id, q.colours.Store.Generation())
	}
	fmt.Fprintf(&b, " %d×%d %s", q.size.Width, q.size.Height, specKey(q.spec))
	names := make([]string, 0, len(q.options))
	for name := range q.options {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, " %q=%q", name, q.options[name])
	}
	return b.String()
}

// costs names a class of computations of about the same cost: a view of these runs with these options, for any
// selection.
func (q *viewRequest) costs() string {
	whole := *q
	whole.spec, whole.size = view.Spec{}, scene.Size{}
	return whole.key()
}

func specKey(s view.Spec) string {
	return fmt.Sprintf("%q %q %q %q", s.From, s.To, s.Locations, s.Regions)
}

// request resolves the names in a request against the first run.
func (q *viewRequest) request() (*view.Request, error) {
	st := q.runs[0].Store
	if why := q.view.Needs.Missing(st); why != "" {
		return nil,
			&apiError{Status: http.StatusUnprocessableEntity, Kind: "needs", Message: why, Hint: "choose another view"}
	}
	values, err := view.NewValues(q.view, q.options)
	if err != nil {
		return nil, usage(err)
	}
	sel, err := resolve(q.spec, st)
	if err != nil {
		return nil, err
	}
	out := &view.Request{Selection: sel, Values: values, Size: q.size}
	for _, x := range q.runs {
		out.Runs = append(out.Runs, x.Run)
	}
	if q.colours != nil {
		out.ColourAs(q.colours.Run)
	}
	return out, nil
}

// needed are the runs without which the result is not valid.
func (q *viewRequest) needed() []*run {
	if q.colours == nil {
		return q.runs
	}
	return append(slices.Clone(q.runs), q.colours)
}

// resolve is Spec.Resolve, but ids ("#7"), which the page sends, are not searched
// for among a million names.
func resolve(spec view.Spec, st store.Reader) (trace.Selection, error) {
	ids, ok := onlyIDs(spec.Locations, st.Locations())
	if ok {
		spec.Locations = nil
	}
	sel, err := spec.Resolve(st)
	if err != nil {
		return sel, usage(err)
	}
	if ok {
		sel.Locations = ids
	}
	return sel, nil
}

// onlyIDs returns the topmost of locations that are all named by their id.
func onlyIDs(patterns []string, t *store.Tree) ([]trace.LocationID, bool) {
	if len(patterns) == 0 {
		return nil, false
	}
	ids := make([]trace.LocationID, 0, len(patterns))
	for _, p := range patterns {
		n, has := strings.CutPrefix(p, "#")
		id, err := strconv.ParseUint(n, 10, 32)
		if !has || err != nil || id >= uint64(t.Len()) {
			return nil, false
		}
		ids = append(ids, trace.LocationID(id))
	}
	slices.Sort(ids)
	out := ids[:0]
	for _, id := range ids {
		if len(out) == 0 || id > t.Last[out[len(out)-1]] {
			out = append(out, id)
		}
	}
	return out, true
}

// A computation runs in a slot on behalf of the cache.
type computation struct{ ctx context.Context }

// guarded makes f safe to run in a slot: a panic in it is logged and becomes an error.
func (s *computer) guarded(where string, f func() error) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				s.logPanic(where, p)
				err = errPanic
			}
		}()
		return f()
	}
}

// cachedJSON computes a JSON answer once for all who ask.
func (s *computer) cachedJSON(ctx context.Context, x *run, what string, f func(*computation) (any, error)) ([]byte,
	error) {
	key := fmt.Sprintf("%s %q %d", what, x.id, x.Store.Generation())
	e, err := s.cache.get(ctx, key, []*run{x}, func(ctx context.Context) (made, error) {
		var body []byte
		if strings.HasPrefix(what, summaryOf) {
			s.limiter.expectScan(key, x.Store.Info().Intervals)
		}
		err := s.limiter.do(ctx, key, s.guarded(what, func() error {
			v, err := f(&computation{ctx})
			if err == nil {
				body, err = marshal(v)
			}
			return err
		}))
		return made{value: body, bytes: int64(len(body))}, err
	})
	if err != nil {
		return nil, err
	}
	return e.value.([]byte), nil
}

// withRuns adds the further runs that a request compares with and the one that gives the colours; release must be
// called.
func (s *computer) withRuns(by *Token, q *viewRequest, ids []string, colours string) (release func(), err error) {
	release = func() {
		for _, x := range q.needed()[1:] {
			x.release()
		}
	}
	if colours != "" && colours != q.runs[0].id {
		if q.colours, err = s.runs.use(by, colours); err != nil {
			return release, err
		}
	}
	if len(ids) > maxWith {
		return release, usage(errors.New("with: too many runs"))
	}
	if err := view.CheckRuns(q.view, 1+len(ids), s.config.Views); err != nil {
		return release, usage(fmt.Errorf("with: %w", err))
	}
	for i, id := range ids {
		if id == q.runs[0].id || slices.Contains(ids[:i], id) {
			return release,
				usage(fmt.Errorf("with: %s is shown already; a run is not compared with itself", quoteShort(id)))
		}
		x, err := s.runs.use(by, id)
		if err != nil {
			return release, err
		}
		q.runs = append(q.runs, x)
	}
	return release, nil
}
