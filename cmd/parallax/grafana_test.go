package main

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/testing/chdbtest"
	"github.com/parallax-hpc/parallax/internal/warehouse"
)

// The statements of packaging/grafana answer over a lake of twelve runs whose last is the longest: panels have rows,
// and the alert about length names that run.
func TestEngineAnswersTheDashboard(t *testing.T) {
	engine := chdbtest.Start(t)
	ctx := context.Background()
	place := warehouse.On(clickhouse.NewServer(engine, "engine"))
	first := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	for n := range 12 {
		length := 100
		if n == 11 {
			length = 200
		}
		about := lake.About{Run: "night " + string(rune('a'+n)), Project: "solver", Clock: "as given",
			Start: first.AddDate(0, 0, n).UnixMicro(), Keys: map[string]string{"commit": "c" + string(rune('a'+n))}}
		if _, err := place.Append(ctx, asTables(t, chromeTrace(t, "night", length)), about); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(text string) (out []string) {
		t.Helper()
		r, err := place.Query(ctx, text, query.Limits{})
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			return nil
		}
		defer r.Close()
		for r.Next() {
			line, _ := json.Marshal(r.Row())
			out = append(out, string(line))
		}
		if r.Err() != nil {
			t.Errorf("%v\n%s", r.Err(), text)
		}
		return out
	}
	text, err := os.ReadFile("../../packaging/grafana/runs.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ RawSQL string }
		}
		Templating struct {
			List []struct{ Type, Query string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("${project}", "solver", "${region}", "solve_the_equation_on_the_zone")
	filter := regexp.MustCompile(`\$__timeFilter\((\w+)\)`)
	statement := func(s string) string {
		return filter.ReplaceAllString(filled.Replace(s), "$1 >= toDateTime64('2026-01-01 00:00:00', 6, 'UTC')")
	}
	for _, p := range board.Panels {
		if got := rows(statement(p.Targets[0].RawSQL)); len(got) < 12 {
			t.Errorf("%s: %d rows: %v", p.Title, len(got), got)
		}
	}
	for _, v := range board.Templating.List {
		if v.Type != "query" {
			continue
		}
		if got := rows(statement(v.Query)); len(got) == 0 {
			t.Errorf("%s: no values", v.Query)
		}
	}
	text, err = os.ReadFile("../../packaging/grafana/alerts.sql")
	if err != nil {
		t.Fatal(err)
	}
	alerts := strings.Split(strings.TrimSuffix(strings.TrimSpace(string(text)), ";"), ";\n")
	if got := rows(alerts[0]); len(got) != 1 || !strings.Contains(got[0], `"night l","cl"`) {
		t.Errorf("runs that are longer: %v", got)
	}
	for _, a := range alerts[1:] {
		rows(a)
	}
}
