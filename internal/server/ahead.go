package server

import (
	"net/http"
	"net/url"
	"slices"
)

// ahead lets a browser request the page's first data while it still loads the page's program, so that the first
// picture does not wait for both in turn.
func ahead(runs *registry, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			for _, path := range askedFirst(runs, r.URL.Query().Get("run")) {
				w.Header().Add("Link", "<"+path+">; rel=preload; as=fetch; crossorigin")
			}
		}
		page.ServeHTTP(w, r)
	})
}

// askedFirst returns the paths that a page asks for in any case: of a run those of the one that
// its address names, or of the first, once it is ready.
func askedFirst(open *registry, wanted string) []string {
	paths := []string{"/api/session", "/api/views", "/api/runs"}
	open.mu.Lock()
	runs := slices.Clone(open.runs)
	open.mu.Unlock()
	for _, x := range runs {
		if wanted != "" && x.id != wanted {
			continue
		}
		x.mu.Lock()
		ready := x.state == "ready"
		x.mu.Unlock()
		if ready {
			of := "/api/runs/" + url.PathEscape(x.id)
			paths = append(paths, of+"/info", of+"/regions")
		}
		break
	}
	return paths
}
