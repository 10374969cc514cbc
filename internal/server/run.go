package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A registry holds the runs that are open, being imported, or failed.
type registry struct {
	server *Server
	mu     sync.Mutex
	runs   []*run // in the order in which they were asked for
}

// A run is one run under its id. Its store closes when the last request that
// uses it is done: a mapped file must not go away under a kernel.
type run struct {
	id      string
	sources []string // as asked for
	upload  string   // directory to remove with it; may be empty
	beside  string   // the upload that it was made from, where that is another run's
	align   string   // how its clocks are fitted; empty: as the opener likes
	named   bool     // its name was asked for
	mustFit bool     // that they are not is an error
	format  string   // the only one to read as; empty: found out
	join    bool     // the sources are one run
	came    []string // ids of all runs that came of the sources, where they are several
	// sourceDirs hold the program's source, beside those of the server.
	sourceDirs []string
	live       bool     // it is replaced by newer states of itself
	after      func()   // called when its store is closed; may be nil
	lineage    *lineage // of a live run; nil
	owner      string   // the holder who opened it; "": the command line did
	readers    []string // holders who may see it next to the owner; none: all
	cancel     context.CancelFunc

	mu          sync.Mutex
	state       string
	done, total int64
	err         error
	view.Run    // set when ready
	uses        int
	closed      bool

	index treeIndex
}

// maxRuns bounds how many runs may be open or listed at once, maxOwnRuns those that one holder opened.
const (
	maxRuns    = 256
	maxOwnRuns = 64
)

func newRegistry(s *Server) *registry { return &registry{server: s} }

// add registers a run that is open already.
func (g *registry) add(r view.Run) *run {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := &run{id: g.freeID(r.Name), sources: []string{r.Source}, state: "ready", Run: r, cancel: func() {}}
	g.runs = append(g.runs, x)
	return x
}

// open starts an import and gives its run at once. Sources that are open or
// being imported are not opened again.
func (g *registry) open(x *run, name string) (*run, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	same := func(y *run) bool {
		return slices.Equal(x.sources, y.sources) && x.align == y.align && x.format == y.format && x.join == y.join &&
			slices.Equal(x.sourceDirs, y.sourceDirs) &&
			(y.owner == "" || y.owner == x.owner && slices.Equal(x.readers, y.readers))
	}
	for _, y := range g.runs {
		if same(y) && y.status() != "failed" {
			return y, nil
		}
	}
	g.runs = slices.DeleteFunc(g.runs, same)
	own := 0
	for _, y := range g.runs {
		if x.owner != "" && y.owner == x.owner {
			own++
		}
	}
	if own >= maxOwnRuns {
		return nil, &apiError{Status: http.StatusConflict, Kind: "too-large",
			Message: fmt.Sprintf("you have opened %d runs", own), Hint: "close some first"}
	}
	if len(g.runs) >= maxRuns {
		return nil,
			&apiError{Status: http.StatusConflict, Kind: "too-large", Message: fmt.Sprintf("%d runs are open", maxRuns),
				Hint: "close some first"}
	}
	if g.server.ctx.Err() != nil {
		return nil, context.Canceled
	}
	ctx, cancel := context.WithCancel(g.server.ctx)
	x.id, x.state, x.cancel = g.freeID(name), "importing", cancel
	x.Run = view.Run{Name: name, Source: withoutPasswords(strings.Join(x.sources, " "))}
	g.runs = append(g.runs, x)
	g.server.work.Add(1)
	go func() {
		defer g.server.work.Done()
		defer cancel()
		g.load(ctx, x)
	}()
	return x, nil
}

// load imports and settles the run; further runs of the same sources get entries of their own.
func (g *registry) load(ctx context.Context, x *run) {
	opened, err := g.call(ctx, x)
	if err == nil && len(opened) == 0 {
		err = fmt.Errorf("open %s: nothing in it can be shown", strings.Join(x.sources, " "))
	}
	if x.mustFit && len(opened) == 1 && opened[0].Store.Info().Properties["clock alignment"] == "" {
		opened[0].Store.Close()
		opened, err = nil, errNotFitted
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed || len(opened) == 0 {
		for _, r := range opened {
			r.Store.Close()
		}
		x.state, x.err = "failed", err
		return
	}
	for i := range opened {
		opened[i].Sources = opened[i].Sources.With(x.sourceDirs...)
	}
	name := x.Run.Name
	x.state, x.Run = "ready", opened[0]
	if (x.upload != "" || x.named) && len(opened) == 1 {
		x.Run.Name = name // the source is a directory of ours, whose name says nothing, or another run has its name
	}
	at := slices.Index(g.runs, x) + 1
	for i, r := range opened[1:] {
		more := &run{id: g.freeID(r.Name), sources: []string{r.Source}, state: "ready", Run: r, cancel: func() {},
			sourceDirs: x.sourceDirs, owner: x.owner, readers: x.readers}
		g.runs = slices.Insert(g.runs, at+i, more)
		x.came = append(x.came, more.id)
	}
	if x.came != nil {
		x.came = slices.Insert(x.came, 0, x.id)
	}
	if err != nil { // some of the sources opened, some did not: the answer has both
		g.runs = append(g.runs, &run{
			id: g.freeID(x.id + "-failed"), state: "failed", err: err, cancel: func() {},
			Run:   view.Run{Name: "not opened", Source: withoutPasswords(strings.Join(x.sources, " "))},
			owner: x.owner, readers: x.readers,
		})
	}
}

// call runs the opener; a panic in a reader is an error of that source.
func (g *registry) call(ctx context.Context, x *run) (runs []view.Run, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.server.logPanic("import "+strings.Join(x.sources, " "), p)
			err = errPanic
		}
	}()
	o := Opening{Sources: x.sources, Align: x.align, Format: x.format, Join: x.join, Progress: x.progress}
	if dir := cmp.Or(x.upload, x.beside); dir != "" {
		o.Keep = storesOf(dir)
	}
	return g.server.config.Open(ctx, o)
}

var errNotFitted = errors.New("no clocks were fitted: nothing goes from one clock to another, or the run is a store, " +
	"which is to be imported with --align")

// storesOf returns the directory of the stores of an upload.
func storesOf(upload string) string { return upload + ".stores" }

func (x *run) progress(done, total int64) {
	x.mu.Lock()
	x.done, x.total = done, total
	x.mu.Unlock()
}

func (x *run) status() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// freeID makes an id from a name that is good in a URL and the same after a
// restart; g.mu is held.
func (g *registry) freeID(name string) string {
	base := slug(name)
	id := base
	for n := 2; slices.ContainsFunc(g.runs, func(x *run) bool { return x.id == id }); n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	return id
}

func slug(name string) string {
	s := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
			return c
		}
		return '-'
	}, path.Base(strings.TrimRight(name, "/")))
	if s = strings.Trim(s[:min(len(s), 60)], ".-"); s == "" {
		return "run"
	}
	return s
}

// use finds a run that is ready and that a holder may see, and keeps it open until release.
func (g *registry) use(by *Token, id string) (*run, error) {
	for {
		g.mu.Lock()
		at := slices.IndexFunc(g.runs, func(x *run) bool { return x.id == id && by.sees(x) })
		if at < 0 {
			g.mu.Unlock()
			return nil,
				&apiError{Status: http.StatusNotFound, Kind: "not-found",
					Message: "no run " + quoteShort(id) + " is open", Hint: "open it again from the home page"}
		}
		x := g.runs[at]
		g.mu.Unlock()
		if ok, err := x.enter(); ok || err != nil {
			return x, err
		} // else it was replaced or closed meanwhile
	}
}

// enter keeps a run open that is ready; it is false where the run is listed no more.
func (x *run) enter() (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return false, nil
	case x.state == "importing" && x.live:
		return false,
			&apiError{Status: http.StatusConflict, Kind: "importing",
				Message: "nothing has come of run " + quoteShort(x.id) + " yet", Hint: "wait until its state is ready"}
	case x.state == "importing":
		return false,
			&apiError{Status: http.StatusConflict, Kind: "importing",
				Message: "run " + quoteShort(x.id) + " is still being imported", Hint: "wait until its state is ready"}
	case x.state == "failed":
		e := *errorOf(x.err)
		e.Status = http.StatusConflict
		return false, &e
	}
	x.uses++
	return true, nil
}

// retain keeps a run open that is in use already.
func (x *run) retain() {
	x.mu.Lock()
	x.uses++
	x.mu.Unlock()
}

func (x *run) release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.uses--
	x.closeIfUnused()
}

// closeIfUnused closes the store of a run that is no longer listed; x.mu is held.
func (x *run) closeIfUnused() {
	if x.closed && x.uses == 0 && x.Store != nil {
		x.Cache.Close()
		x.Store.Close()
		x.Store = nil
		if x.after != nil {
			x.after()
		}
	}
}

// close forgets a run that a holder may close: it stops its import and its computations.
func (g *registry) close(by *Token, id string) error {
	g.mu.Lock()
	at := slices.IndexFunc(g.runs, func(x *run) bool { return x.id == id && by.sees(x) })
	if at < 0 {
		g.mu.Unlock()
		return &apiError{Status: http.StatusNotFound, Kind: "not-found",
			Message: "no run " + quoteShort(id) + " is open"}
	}
	x := g.runs[at]
	if !by.closes(x) {
		g.mu.Unlock()
		return &apiError{Status: http.StatusForbidden, Kind: "forbidden", Message: "run " + quoteShort(id) +
			" was opened by " + x.owner, Hint: "ask who opened it, or an admin"}
	}
	g.runs = slices.Delete(g.runs, at, at+1)
	g.mu.Unlock()
	g.end(x)
	return nil
}

func (g *registry) end(x *run) {
	x.cancel()
	g.server.cache.drop(x)
	x.retire()
	if x.upload != "" {
		g.server.uploads.remove(x.upload)
		_ = os.RemoveAll(storesOf(x.upload)) // where it is still in use: when the server ends
	}
}

func (g *registry) closeAll() {
	g.mu.Lock()
	all := g.runs
	g.runs = nil
	g.mu.Unlock()
	for _, x := range all {
		g.end(x)
	}
}

// A runState describes a run in GET /api/runs.
type runState struct {
	ID         string    `json:"id"` // Names the run in every path.
	Name       string    `json:"name"`
	Source     string    `json:"source"`
	Format     string    `json:"format"`
	State      string    `json:"state" ts:"'importing' | 'ready' | 'failed'"`
	Progress   float64   `json:"progress"`   // 0 … 1; 1 when ready.
	Error      *apiError `json:"error"`      // Set when failed, else null.
	Generation string    `json:"generation"` // Changes when the content does; decimal digits.
	// It is replaced by newer states of itself: a file that grows, spans that arrive.
	Live bool `json:"live"`
	// The time of the source that all times count from, in its own count, ns.
	Origin trace.Time `json:"origin"`
	// Ranks that took part, as a key, a property or the records say; 0: none does.
	Size float64 `json:"size"`
	// Keys that runs are grouped and ordered by: those given, and properties in which the runs differ.
	Keys map[string]string `json:"keys"`
	// The views that make no sense for this run, with the reason.
	Missing map[string]string `json:"missing"`
	// Ids of all runs that came of the same request, this one first, where they are several.
	Runs []string `json:"runs"`
}

func (x *run) describe(views []*view.View) runState {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := runState{ID: x.id, Name: x.Name, Source: x.Source, State: x.state, Live: x.live, Keys: map[string]string{},
		Missing: map[string]string{}, Runs: append([]string{}, x.came...)}
	if x.total > 0 {
		s.Progress = min(max(float64(x.done)/float64(x.total), 0), 1)
	}
	switch {
	case x.state == "failed" && x.err != nil:
		s.Error = errorOf(x.err)
	case x.state == "ready" && x.Store != nil:
		s.Progress, s.Format = 1, x.Store.Info().Format
		s.Origin = x.Store.Info().Origin
		s.Size, _ = x.Run.Ranks() // the view scaling reports errors in a key
		maps.Copy(s.Keys, x.Run.Keys)
		s.Generation = strconv.FormatUint(x.Store.Generation(), 10)
		for _, v := range views {
			if why := v.Needs.Missing(x.Store); why != "" {
				s.Missing[v.Name] = why
			}
		}
	}
	return s
}

// states describes all runs that a holder may see, or those given.
func (s *computer) states(by *Token, only ...*run) []runState {
	out := []runState{}
	if only == nil {
		s.runs.mu.Lock()
		only = slices.DeleteFunc(slices.Clone(s.runs.runs), func(x *run) bool {
			return !by.sees(x) || by != nil && by.ReadOnly && x.status() == "failed"
		})
		s.runs.mu.Unlock()
	}
	for _, x := range only {
		state := x.describe(s.config.Views)
		if by != nil && by.ReadOnly { // where files lie is nothing for guests
			state.Source = path.Base(state.Source)
		}
		out = append(out, state)
	}
	for i, keys := range tellingApart(only) {
		for k, v := range keys {
			if _, own := out[i].Keys[k]; !own {
				out[i].Keys[k] = v
			}
		}
	}
	return out
}

const (
	mostKeys    = 12 // columns that a table of runs has room for
	mostKeyText = 80
)

// tellingApart returns the properties of each run in which the runs differ: runs can be grouped by these.
func tellingApart(runs []*run) []map[string]string {
	out := make([]map[string]string, len(runs))
	values := map[string]map[string]bool{}
	ready := 0
	for i, x := range runs {
		x.mu.Lock()
		if x.state == "ready" && x.Store != nil {
			out[i] = x.Store.Info().Properties
			ready++
		}
		x.mu.Unlock()
		for k, v := range out[i] {
			if len(k) > mostKeyText || len(v) > mostKeyText {
				continue
			}
			if values[k] == nil {
				values[k] = map[string]bool{}
			}
			values[k][v] = true
		}
	}
	// One that is another in each run groups nothing, but orders: those that group come first.
	var keys []string
	for k, v := range values {
		if len(v) > 1 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(values[a])/max(ready, 1), len(values[b])/max(ready, 1)), strings.Compare(a, b))
	})
	keys = keys[:min(len(keys), mostKeys)]
	for i, all := range out {
		own := map[string]string{}
		for _, k := range keys {
			if v := all[k]; v != "" && len(v) <= mostKeyText {
				own[k] = v
			}
		}
		out[i] = own
	}
	return out
}

// onRun keeps the run of the path open while h answers.
func (s *computer) onRun(h func(http.ResponseWriter, *http.Request, *run) error) func(http.ResponseWriter,
	*http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		x, err := s.runs.use(holderOf(r), r.PathValue("run"))
		if err != nil {
			return err
		}
		defer x.release()
		return h(w, r, x)
	}
}
