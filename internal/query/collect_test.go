package query_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/table"
)

func collect(tb testing.TB, d *query.Database, text string, most int64) (*query.Collection, error) {
	tb.Helper()
	r, err := d.Query(context.Background(), text, query.Limits{Time: time.Hour})
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	return r.Collect(most)
}

// Columns of tables have their declared types, also where no row comes; computed ones are as wide as their values.
func TestCollectedColumnsHaveTypes(t *testing.T) {
	d := database(two(t))
	for text, want := range map[string]string{
		"select region, begin, duration from intervals where begin < 0":                "region text, begin integer, duration integer",
		"select region, calls, mean, mean from calls() where region = 'none'":          "region text, calls integer, mean number, mean_2 number",
		"select path, rank, inclusive from profile where metric = 'none'":              "path text, rank integer, inclusive number",
		"select inclusive, calls from profile limit 2":                                 "inclusive number, calls number",
		"select 1 as a, 1.5 as b, 'x' as c, null as d":                                 "a integer, b number, c text, d text",
		"select begin from (select begin from intervals limit 1) union all select 0.5": "begin number",
		"select 1 as a union all select 2.5 union all select 'x'":                      "a text",
	} {
		c, err := collect(t, d, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range c.Columns {
			got = append(got, x.Name+" "+x.Kind.String())
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s\n\thas %s, want %s", text, s, want)
		}
		c.Close()
	}
}

// What was collected comes back as it was, and too much is refused.
func TestCollectedRowsAreThoseOfTheQuery(t *testing.T) {
	d := database(two(t))
	const text = "select location, region, begin, duration * 0.5 as half, parent from intervals"
	c, err := collect(t, d, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var got []string
	err = c.Each(func(b *table.Batch) error {
		for i := range b.Rows {
			var cells []string
			for k := range b.Columns {
				cells = append(cells, query.Cell(b.Columns[k].Value(i)))
			}
			got = append(got, strings.Join(cells, " "))
		}
		return nil
	})
	want, _ := ask(t, d, text)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d rows came back of %d, or others: %v", len(got), len(want), err)
	}
	if c, err := collect(t, d, text, 1000); err == nil || !strings.Contains(err.Error(), "more than 1000 cells") {
		c.Close()
		t.Errorf("more cells than the bound are collected: %v", err)
	}
}
