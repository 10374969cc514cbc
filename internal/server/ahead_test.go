package server

import (
	"slices"
	"strings"
	"testing"
)

// A browser asks for what the page needs first while it still loads the page, and only for
// what there is.
func TestThePageSaysWhatItWillAskForFirst(t *testing.T) {
	h := start(t, nil)
	always := []string{"/api/session", "/api/views", "/api/runs"}
	run := append(slices.Clone(always), "/api/runs/small.trace/info", "/api/runs/small.trace/regions")
	for path, want := range map[string][]string{"/": run, "/?run=small.trace&view=x": run, "/?run=other": always, "/main.js": nil} {
		answer, _ := h.ask("GET", path, "", nil)
		var got []string
		for _, link := range answer.Header.Values("Link") {
			of, how, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
			if how != "; rel=preload; as=fetch; crossorigin" {
				t.Errorf("%s: %s", path, link)
			}
			got = append(got, of)
			h.get(of, 200, nil)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
