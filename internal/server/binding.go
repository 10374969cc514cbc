package server

import (
	"errors"
	"net/http"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A runPages answers about a run.
type runPages struct {
	viewPages
}

// bindingsJSON lists the further things that events of a layout can be bound to. Regions and metrics are known to the
// page already.
type bindingsJSON struct {
	Atomics  []string `json:"atomics"`
	Counters []string `json:"counters"`
	Metadata []string `json:"metadata"` // numbers of locations or of the run
}

// bindings is computed once per run.
func (s *runPages) bindings(w http.ResponseWriter, r *http.Request, x *run) error {
	body, err := s.cachedJSON(r.Context(), x, "bindings", func(c *computation) (any, error) { return bindingsOf(c, x) })
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "application/json", body)
}

func bindingsOf(c *computation, x *run) (any, error) {
	st := x.Store
	first := make([]trace.LocationID, min(st.Locations().Len(), 256)) // those of a run are mostly alike
	for i := range first {
		first[i] = trace.LocationID(i)
	}
	out := bindingsJSON{Atomics: []string{}, Counters: []string{}, Metadata: view.MetadataKeys(st, first)}
	add := func(to *[]string, name string) {
		if name != "" && len(*to) < 500 && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for i := range st.Counters() {
		add(&out.Counters, st.Counters()[i].Name)
		if i > 100_000 {
			break
		}
	}
	enough := errors.New("enough")
	rows := 0
	err := st.Atomics(c.ctx, nil, func(list []trace.AtomicRow) error {
		for i := range list {
			if m := int(list[i].Metric); m < len(st.Metrics()) {
				add(&out.Atomics, st.Metrics()[m].Name)
			}
		}
		if rows += len(list); rows > 100_000 {
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, err
	}
	for _, list := range [][]string{out.Atomics, out.Counters} {
		slices.Sort(list)
	}
	return out, nil
}
