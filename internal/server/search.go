package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/search"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// searchJSON answers GET /api/runs/{run}/search?q=&limit=.
type searchJSON struct {
	Query         string        `json:"query"`
	Locations     []locationHit `json:"locations"`
	LocationTotal int           `json:"locationTotal"` // How many match in all.
	Regions       []regionRow   `json:"regions"`
	RegionTotal   int           `json:"regionTotal"`
}

type locationHit struct {
	ID   trace.LocationID `json:"id"`
	Name string           `json:"name"`
	Path string           `json:"path"`
	Kind trace.Kind       `json:"kind"`
	Rank *int32           `json:"rank"`
}

// search finds locations and regions by a part of their name, letter case aside;
// exact names first, then names that begin so. A number finds a rank as well.
func (s *runPages) search(w http.ResponseWriter, r *http.Request, x *run) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(q) > 200 {
		return usage(errors.New("q: want at most 200 letters"))
	}
	_, limit, err := page(r, 20, 200)
	if err != nil {
		return err
	}
	out := searchJSON{Query: q, Locations: []locationHit{}, Regions: []regionRow{}}
	if q == "" {
		return s.writeJSON(w, r, http.StatusOK, out)
	}
	err = s.limiter.do(r.Context(), "search "+x.id, func() error { return find(r.Context(), &x.Run, q, limit, &out) })
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

func find(ctx context.Context, run *view.Run, q string, limit int, out *searchJSON) error {
	t, regions := run.Store.Locations(), run.Store.Regions()
	colours, err := view.ColoursOf(ctx, run)
	if err != nil {
		return err
	}
	rank, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(q), "rank"), " "))
	isRank := err == nil
	_, name, isPath := cutLast(q, "/")
	locations := newRanking(limit)
	for id := range t.Len() {
		if id%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		class := match(t.Name[id], q)
		if isRank && int(t.Rank[id]) == rank &&
			(t.Parent[id] == trace.NoLocation || t.Rank[t.Parent[id]] != t.Rank[id]) {
			class = 0
		} else if class < 0 && isPath && match(t.Name[id], name) >= 0 {
			class = match(t.Path(trace.LocationID(id)), q)
		}
		locations.add(class, id)
	}
	for _, id := range locations.best() {
		at := trace.LocationID(id)
		out.Locations = append(out.Locations, locationHit{at, t.Name[id], t.Path(at), t.Kind[id], rankOf(t, at)})
	}
	found := newRanking(limit)
	for id := range regions {
		found.add(match(regions[id].Name, q), id)
	}
	for _, id := range found.best() {
		out.Regions = append(out.Regions, regionRowOf(id, &regions[id], colours))
	}
	out.LocationTotal, out.RegionTotal = locations.total, found.total
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 && i < len(s)-1 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// A ranking keeps the first few hits of each class.
type ranking struct {
	limit   int
	total   int
	classes [3][]int
}

func newRanking(limit int) *ranking { return &ranking{limit: limit} }

func (k *ranking) add(class, id int) {
	if class < 0 {
		return
	}
	k.total++
	if len(k.classes[class]) < k.limit {
		k.classes[class] = append(k.classes[class], id)
	}
}

func (k *ranking) best() []int {
	out := []int{}
	for _, c := range k.classes {
		out = append(out, c[:min(len(c), k.limit-len(out))]...)
	}
	return out
}

// match returns 0 if the name is q, 1 if it begins with it, 2 if it holds
// it, -1 otherwise. ASCII letters match in either case; it allocates nothing.
func match(name, q string) int {
	for i := 0; i+len(q) <= len(name); i++ {
		if !equalFold(name[i:i+len(q)], q) {
			continue
		}
		switch {
		case len(name) == len(q):
			return 0
		case i == 0:
			return 1
		}
		return 2
	}
	return -1
}

func equalFold(a, b string) bool {
	for i := range len(b) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// intervalsJSON answers GET /api/runs/{run}/intervals?q=&at=&before=&limit=.
type intervalsJSON struct {
	Query string        `json:"query"`
	Count int64         `json:"count"` // How many match in all.
	Index int64         `json:"index"` // How many come before the first of those named.
	Hits  []intervalHit `json:"hits"`
	Bins  []int64       `json:"bins"` // How many begin in each of equal parts of the window asked for.
	// InAttributes are words that no region has in its name.
	InAttributes []string `json:"inAttributes"`
}

type intervalHit struct {
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Lane     int              `json:"lane"`
	Row      int              `json:"row"`
	Region   trace.RegionID   `json:"region"`
	Begin    trace.Time       `json:"begin"`
	Duration trace.Time       `json:"duration"`
}

// searchBins is how finely an answer tells when hits are: for a strip as wide as a screen.
const searchBins = 512

// intervals finds intervals by words, see package search.
func (s *runPages) intervals(w http.ResponseWriter, r *http.Request, x *run) error {
	v := r.URL.Query()
	text := strings.TrimSpace(v.Get("q"))
	if len(text) > 200 {
		return usage(errors.New("q: want at most 200 letters"))
	}
	q, err := search.Parse(text)
	if err != nil {
		return usage(fmt.Errorf("q: %w", err))
	}
	spec, err := parseSpec(v)
	if err != nil {
		return err
	}
	sel, err := resolve(spec, x.Store)
	if err != nil {
		return err
	}
	_, limit, err := page(r, 50, 1000)
	if err != nil {
		return err
	}
	o := search.Options{Begin: sel.Begin, End: sel.End, Locations: sel.Locations, Before: v.Get("before") != "",
		Limit: max(limit, 1), Bins: searchBins}
	if at := v.Get("at"); at != "" {
		if o.At, err = view.ParseTime(at, x.Store.Info().End); err != nil {
			return usage(fmt.Errorf("at: %w", err))
		}
	}
	ctx, leave, err := s.panels.enter(r, "intervals")
	if err != nil {
		return err
	}
	defer leave()
	body,
		err := s.cachedJSON(ctx, x,
		fmt.Sprintf("intervals %q %s %d %v %d", text, specKey(spec), o.At, o.Before, o.Limit),
		func(c *computation) (any, error) {
			found, err := search.Find(c.ctx, x.Store, q, o)
			if err != nil {
				return nil, err
			}
			out := &intervalsJSON{Query: text, Count: found.Count, Index: found.Index, Hits: []intervalHit{},
				Bins: found.Bins, InAttributes: append([]string{}, found.InAttributes...)}
			for _, h := range found.Hits {
				out.Hits = append(out.Hits, hitJSON(x.Store, h))
			}
			return out, nil
		})
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "application/json", body)
}

// A stepJSON leads from an interval to another: by a link, or by a call.
type stepJSON struct {
	intervalHit
	By   string     `json:"by"`   // "message", "spawn", "wake", … or "caller".
	From trace.Time `json:"from"` // Of the link.
	To   trace.Time `json:"to"`
	Size *int64     `json:"size"` // Bytes; null where not known.
}

// causesJSON answers GET /api/runs/{run}/causes?location=&lane=&row=.
type causesJSON struct {
	Of          intervalHit `json:"of"`
	Causes      []stepJSON  `json:"causes"` // Links that came in, the latest first, then the caller.
	Effects     []stepJSON  `json:"effects"`
	CauseCount  int64       `json:"causeCount"` // How many links there are each way, also those that are not named.
	EffectCount int64       `json:"effectCount"`
	Chain       []stepJSON  `json:"chain"` // From cause to cause, back to the first one known.
	Cut         bool        `json:"cut"`   // The chain goes on.
}

// causes answers with the causes of an interval, and its effects.
func (s *runPages) causes(w http.ResponseWriter, r *http.Request, x *run) error {
	number := map[string]int{}
	for _, key := range []string{"location", "lane", "row"} {
		n, err := strconv.ParseInt(r.URL.Query().Get(key), 10, 32)
		if err != nil || n < 0 {
			return usage(fmt.Errorf("%s %s: want the number of one", key, quoteShort(r.URL.Query().Get(key))))
		}
		number[key] = int(n)
	}
	_, limit, err := page(r, 12, 200)
	if err != nil {
		return err
	}
	at := store.Row{Location: trace.LocationID(number["location"]), Lane: number["lane"], Row: number["row"]}
	ctx, leave, err := s.panels.enter(r, "causes")
	if err != nil {
		return err
	}
	defer leave()
	body, err := s.cachedJSON(ctx, x, fmt.Sprintf("causes %+v %d", at, limit), func(c *computation) (any, error) {
		n, ok, err := search.CausesOf(c.ctx, x.Store, at, limit)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil,
				&apiError{Status: http.StatusNotFound, Kind: "not-found", Message: "there is no such interval",
					Hint: "location, lane and row name one"}
		}
		steps := func(list []search.Step) []stepJSON {
			out := []stepJSON{}
			for _, p := range list {
				j := stepJSON{intervalHit: hitJSON(x.Store, p.Hit), By: p.By, From: p.From, To: p.To}
				if p.Size >= 0 {
					j.Size = &p.Size
				}
				out = append(out, j)
			}
			return out
		}
		return &causesJSON{hitJSON(x.Store, n.Of), steps(n.Causes), steps(n.Effects), n.CauseCount, n.EffectCount,
			steps(n.Chain), n.Cut}, nil
	})
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "application/json", body)
}

func hitJSON(r store.Reader, h search.Hit) intervalHit {
	return intervalHit{h.Location, r.Locations().Path(h.Location), h.Lane, h.Row.Row, h.Region, h.Begin, h.Duration}
}
