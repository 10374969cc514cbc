package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/view"
)

const maxRecent = 12

// recent lists the sources opened before, newest first. It is a convenience: a list that cannot be read is an empty
// one.
func recent(c *load.Cache) []server.Recent {
	out := []server.Recent{}
	b, err := os.ReadFile(filepath.Join(c.Dir, "recent.json"))
	if err == nil && json.Unmarshal(b, &out) != nil {
		return []server.Recent{}
	}
	return out
}

// remember puts sources at the head of the list of recent ones.
func remember(c *load.Cache, sources []string, r view.Run) {
	abs := make([]string, len(sources))
	for i, s := range sources {
		if abs[i] = s; clickhouse.IsAddress(s) {
			abs[i] = r.Source // which has no password
		} else if !strings.HasPrefix(s, "demo:") {
			if a, err := filepath.Abs(s); err == nil {
				abs[i] = a
			}
		}
	}
	e := server.Recent{Source: strings.Join(abs, " "), Name: r.Name, Format: r.Store.Info().Format,
		Opened: time.Now().UTC().Format(time.RFC3339)}
	list := slices.DeleteFunc(recent(c), func(x server.Recent) bool { return x.Source == e.Source })
	list = append([]server.Recent{e}, list...)
	if len(list) > maxRecent {
		list = list[:maxRecent]
	}
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return
	}
	tmp := filepath.Join(c.Dir, ".recent.json")
	if os.WriteFile(tmp, b, 0o600) == nil {
		_ = os.Rename(tmp, filepath.Join(c.Dir, "recent.json"))
	}
}
