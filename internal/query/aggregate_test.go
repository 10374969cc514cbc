package query_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// long is six ranks that are in one call for 73 years each: together more than 64 bits hold.
func long(tb testing.TB) store.Reader {
	return viewtest.Local(tb, func(w trace.Writer) {
		work := w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		for rank := range 6 {
			s := w.Stream(w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank}), trace.StreamOptions{})
			s.Interval(0, 1<<61, work)
			s.Close()
		}
	})
}

// Sums over many locations pass 64 bits, in intervals and in what the store adds up.
func TestSumsDoNotOverflow(t *testing.T) {
	d := database(long(t))
	for _, text := range []string{"select sum(duration) from intervals", "select sum(inclusive) from time_in()", "select sum(inclusive) from profile", "select calls * mean from calls()"} {
		got, err := strconv.ParseFloat(one(t, d, text), 64)
		if want := 6 * math.Pow(2, 61); err != nil || math.Abs(got/want-1) > 1e-15 {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	if got := one(t, d, "select total from calls()"); got != "" {
		t.Errorf("a total that 64 bits do not hold is %s, want null", got)
	}
}

// sum() is SQLite's but for overflow.
func TestSumIsThatOfSQLite(t *testing.T) {
	d := database(two(t))
	for text, want := range map[string]string{
		"select sum(x), typeof(sum(x)) from (select 1 as x union all select 2)":                                                                  "3 integer",
		"select sum(x), typeof(sum(x)) from (select 1 as x union all select 0.5)":                                                                "1.5 real",
		"select sum(x), typeof(sum(x)) from (select null as x)":                                                                                  " null",
		"select sum(x) from (select 1 as x where 0)":                                                                                             "",
		"select sum(x) from (select '3 apples' as x union all select 'none')":                                                                    "3",
		"select sum(x) from (select 9223372036854775807 as x union all select 9223372036854775807 union all select -9223372036854775807)":        "9223372036854775807",
		"select sum(distinct x) from (select 4 as x union all select 4)":                                                                         "4",
		"select group_concat(s) from (select sum(x) over (order by x rows 1 preceding) as s from (select 1 as x union select 2 union select 3))": "1,3,5",
		"select sum(1e308), sum(x) from (select 1e308 as x union all select 1e308)":                                                              "+Inf +Inf",
	} {
		if got := one(t, d, text); got != want {
			t.Errorf("%s\n\tgives %q, want %q", text, got, want)
		}
	}
}

// Quantiles are of type 7, of all numbers of a group.
func TestQuantilesAreOfType7(t *testing.T) {
	d := database(two(t))
	for text, want := range map[string]string{
		"select median(x), quantile(x, 0.25), percentile(x, 25), quantile(x, 0), percentile(x, 100) from (select 1 as x union all select 2 union all select 4 union all select 8)": "3 1.75 1.75 1 8",
		"select median(x) from (select -3 as x union all select null union all select 'text' union all select -1.5)":                                                               "-2.25",
		"select median(x) from (select 1 as x where 0)": "",
		"select group_concat(m) from (select median(x) over (order by x rows 2 preceding) as m from (select 1 as x union select 2 union select 9 union select 10))": "1.0,1.5,2.0,9.0",
	} {
		if got := one(t, d, text); got != want {
			t.Errorf("%s\n\tgives %q, want %q", text, got, want)
		}
	}
	rows, _ := ask(t, d, "select region, median(duration), percentile(duration, 90), percentile(duration, 99) from intervals group by 1 order by 1")
	same, _ := ask(t, d, "select region, p50, p90, p99 from calls() order by 1")
	for i := range rows {
		a, b := strings.Fields(rows[i]), strings.Fields(same[i])
		for k := 1; k <= 3; k++ { // the numbers are the last
			x, _ := strconv.ParseFloat(a[len(a)-k], 64)
			if y, _ := strconv.ParseFloat(b[len(b)-k], 64); math.Abs(x/y-1) > 0.01 {
				t.Errorf("%s, and calls() says %s", rows[i], same[i])
			}
		}
	}
	r, err := d.Query(context.Background(), "select quantile(x, 2) from (select 1 as x)", query.Limits{Time: time.Hour})
	if err == nil {
		for r.Next() {
		}
		err = r.Err()
		r.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "from 0 to 1") {
		t.Errorf("a quantile of p = 2 is answered: %v", err)
	}
}

// A group of more values than are held in memory has the same quantiles.
func TestQuantilesOfLargeGroupsAreExact(t *testing.T) {
	d := database(two(t))
	query.HoldAtMost(t, 4096)
	const n = 50_001
	text := fmt.Sprintf("with recursive v(i) as (select 0 union all select i + 1 from v where i < %d) select median((i * 7919) %% %d), percentile((i * 7919) %% %d, 10), quantile((i * 7919) %% %d - 3e4, 0.25) from v", n-1, n, n, n)
	if got, want := one(t, d, text), "25000 5000 -17500"; got != want {
		t.Errorf("quantiles of 0 … %d are %s, want %s", n-1, got, want)
	}
}

// recursive is a profile of samples: work calls itself.
func recursive() store.Reader {
	m := storetest.NewMemory()
	at := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p", Rank: 0})
	work, cpu := m.Region(trace.Region{Name: "work"}), m.Metric(trace.Metric{Name: "cpu", Unit: "ns"})
	path := trace.NoCallPath
	for _, inclusive := range []float64{240, 230, 220} {
		path = m.CallPath(trace.CallPath{Parent: path, Region: work})
		m.Profile(trace.ProfileRow{Location: at, Path: path, Metric: cpu, Inclusive: inclusive, Exclusive: 10})
	}
	return m.Reader()
}

// Inclusive values of a region add up: a recursion counts once. Samples do not count calls.
func TestProfileAddsUp(t *testing.T) {
	d := database(recursive())
	for text, want := range map[string]string{
		"select region, sum(inclusive), sum(exclusive) from profile group by region": "work 240 30",
		"select sum(path_inclusive), max(path_inclusive) from profile":               "690 240",
		"select count(*), count(calls), count(subcalls), sum(calls) from profile":    "3 0 0 ",
	} {
		if got := one(t, d, text); got != want {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
}

// A trace has a profile too: the totals of its calls.
func TestProfileOfATraceIsItsTotals(t *testing.T) {
	d := database(two(t))
	got, _ := ask(t, d, "select rank, region, cast(calls as int), cast(inclusive as int), cast(exclusive as int), metric, unit, flat, callpath from profile order by 1, 2")
	want, _ := ask(t, d, "select rank, region, calls, inclusive, exclusive, 'time', 'ns', 1, null from time_in() order by 1, 2")
	if len(got) == 0 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("profile\n%s\ntime_in()\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := one(t, d, "select count(*) from profile where rank = 1 and region = 'compute 1' and metric = 'time'"); got != "1" {
		t.Errorf("%s rows of one region on rank 1, want 1", got)
	}
}
