package mcp

import (
	"context"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parallax-hpc/parallax/internal/view"
)

// Runs are those that can be asked about.
type Runs interface {
	// List returns ids and states in order.
	List() []Run
	// Use keeps a run open until release.
	Use(id string) (r view.Run, release func(), err error)
	// Open imports sources, or opens their stores, and gives the ids.
	Open(ctx context.Context, sources []string) ([]string, error)
}

// A Run is one that is open, or being imported.
type Run struct {
	ID     string `json:"run" jsonschema:"the id that other tools take as run"`
	Source string `json:"source"`
	Format string `json:"format,omitempty"`
	State  string `json:"state" jsonschema:"ready, importing or failed"`
}

// OpenRuns are runs that a process holds for itself; it closes them.
type OpenRuns struct {
	Opener func(ctx context.Context, sources []string) ([]view.Run, error)

	mu   sync.Mutex
	runs []view.Run
	ids  []string
}

// Add takes an open run.
func (o *OpenRuns) Add(r view.Run) (id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.runs {
		if o.runs[i].Source == r.Source {
			r.Store.Close()
			return o.ids[i]
		}
	}
	id = r.Name
	for taken := true; taken; {
		taken = false
		for _, x := range o.ids {
			if x == id {
				id, taken = id+"'", true
			}
		}
	}
	o.runs, o.ids = append(o.runs, r), append(o.ids, id)
	return id
}

// List implements Runs.
func (o *OpenRuns) List() []Run {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := []Run{}
	for i, r := range o.runs {
		out = append(out, Run{ID: o.ids[i], Source: r.Source, Format: r.Store.Info().Format, State: "ready"})
	}
	return out
}

// Use implements Runs; runs stay open as long as the process.
func (o *OpenRuns) Use(id string) (view.Run, func(), error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.ids {
		if o.ids[i] == id {
			return o.runs[i], func() {}, nil
		}
	}
	return view.Run{}, nil, failed("no run %q is open; `runs` lists them: %s", id, strings.Join(o.ids, ", "))
}

// Open implements Runs.
func (o *OpenRuns) Open(ctx context.Context, sources []string) (ids []string, err error) {
	runs, err := o.Opener(ctx, sources)
	for _, r := range runs {
		ids = append(ids, o.Add(r))
	}
	if len(ids) > 0 {
		err = nil // opened runs can be asked
	}
	return ids, err
}

// Close closes all.
func (o *OpenRuns) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.runs {
		r.Store.Close()
	}
	o.runs, o.ids = nil, nil
}

type openIn struct {
	Source string `json:"source" jsonschema:"path of a file, directory, archive or .plx store, or demo:NAME"`
}

type runsOut struct {
	Runs []Run `json:"runs"`
}

func (s *Server) open(ctx context.Context, _ *sdk.CallToolRequest, in openIn) (*sdk.CallToolResult, runsOut, error) {
	ids, err := s.config.Runs.Open(ctx, []string{in.Source})
	if err != nil {
		return nil, runsOut{}, err
	}
	out := runsOut{Runs: []Run{}}
	for _, r := range s.config.Runs.List() {
		for _, id := range ids {
			if r.ID == id {
				out.Runs = append(out.Runs, r)
			}
		}
	}
	return nil, out, nil
}

func (s *Server) runs(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, runsOut, error) {
	return nil, runsOut{Runs: s.config.Runs.List()}, nil
}

// use finds the run that is meant: the one there is, where none is named.
func (s *Server) use(id string) (view.Run, func(), error) {
	if id != "" {
		return s.config.Runs.Use(id)
	}
	list := s.config.Runs.List()
	switch len(list) {
	case 0:
		return view.Run{}, nil, failed("no run is open; call open with the path of a trace, or demo:stencil")
	case 1:
		return s.config.Runs.Use(list[0].ID)
	}
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return view.Run{}, nil, failed("several runs are open; say run: one of %s", strings.Join(ids, ", "))
}
