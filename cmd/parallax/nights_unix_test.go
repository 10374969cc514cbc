//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/chdbtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/warehouse"
)

// seeds is how many different programs the nightly runs are of.
const seeds = 20

// BenchmarkNights asks the questions of PARALLAX_NIGHTS nightly runs: of a lake in a directory, of DuckDB over its
// files, and of ClickHouse. It prints milliseconds of processor time, the least of three.
func BenchmarkNights(b *testing.B) {
	nights, err := strconv.Atoi(cmp.Or(os.Getenv("PARALLAX_NIGHTS"), "20"))
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	engine := chdbtest.Start(b)
	duckFolder(b)
	place, dir := warehouse.On(clickhouse.NewServer(engine, "engine")), filepath.Join(b.TempDir(), "lake")
	var runs []*table.Run
	for seed := range min(nights, seeds) {
		runs = append(runs, asTables(b, fmt.Sprintf("demo:stencil?locations=%d&intervals=21000&seed=%d", 4<<(seed%3),
			seed+1)))
	}
	var rows int64
	var toFiles, toEngine, inEngine int64
	for n := range nights {
		of := runs[n%len(runs)]
		rows += of.Store.Info().Intervals
		about := lake.About{Run: fmt.Sprint("night ", n+1), Project: "solver", Clock: "as given",
			Start: time.Date(2025, 6, 1+n, 3, 0, 0, 0, time.UTC).UnixMicro(),
			Keys: map[string]string{"commit": fmt.Sprintf("c%03d", n/2), "machine": fmt.Sprint("m", n%3),
				"version": fmt.Sprint(n / 100)}}
		at := view.Run{Name: of.Name, Source: of.Source, Store: of.Store}
		if about.Outline, err = fingerprint.OfRun.Outline(ctx, &at); err != nil {
			b.Fatal(err)
		}
		began := ownTime()
		if _, err := lake.Append(ctx, dir, of, about, nil); err != nil {
			b.Fatal(err)
		}
		files := ownTime()
		toFiles += files - began
		if n >= seeds {
			continue
		}
		busy := engineTime(b, engine)
		if _, err := place.Append(ctx, of, about); err != nil {
			b.Fatal(err)
		}
		toEngine, inEngine = toEngine+ownTime()-files, inEngine+engineTime(b, engine)-busy
	}
	fmt.Printf("%d runs, %d intervals; CPU s: %.1f for files; %.1f for %d in ClickHouse and %.1f in it\n", nights, rows,
		float64(toFiles)/1e6, float64(toEngine)/1e6, len(runs), float64(inEngine)/1e6)
	copyNights(b, engine, nights)
	for _, t := range lake.Tables {
		if err := engine.Exec(ctx, "optimize table "+t.Name+"_rows final"); err != nil {
			b.Fatal(err)
		}
	}
	var parts, bytes, stored, sum uint64
	if err := engine.QueryRow(ctx, "select count(), sum(bytes_on_disk), sumIf(rows, table = 'intervals_rows'), "+
		"sumIf(bytes_on_disk, table = 'intervals_rows') from system.parts where active and database = "+
		"currentDatabase()").Scan(&parts, &bytes, &stored, &sum); err != nil {
		b.Fatal(err)
	}
	fmt.Printf("ClickHouse: %d parts, %d MB; intervals %d rows, %.1f bytes a row\n", parts, bytes>>20, stored,
		float64(sum)/float64(stored))
	for name, value := range warehouse.Standard {
		if err := engine.Exec(ctx, fmt.Sprintf("set %s = '%v'", name, value)); err != nil {
			b.Fatal(err)
		}
	}
	other := startDuck(b, dir)
	files, err := lake.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	here := &query.Database{Runs: []*table.Run{{Name: dir, Source: dir}}, Only: files}
	drain := func(rows *query.Rows, err error) {
		if err != nil {
			b.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
		}
		if rows.Err() != nil {
			b.Fatal(rows.Err())
		}
	}
	fmt.Printf("%-34s %10s %10s %10s\n", "CPU ms", "directory", "DuckDB", "ClickHouse")
	for _, q := range questions {
		own := least(func() int64 {
			began := ownTime()
			drain(here.Query(ctx, q.text, query.Limits{}))
			return ownTime() - began
		})
		ducks := least(func() int64 {
			_, micros, err := other.ask(q.text)
			if err != nil {
				b.Fatal(err)
			}
			return micros
		})
		asked := least(func() int64 {
			began := engineTime(b, engine)
			drain(place.Query(ctx, q.text, query.Limits{}))
			return engineTime(b, engine) - began
		})
		fmt.Printf("%-34s %10.1f %10.1f %10.1f\n", q.name, own/1e3, ducks/1e3, asked/1e3)
	}
	for _, args := range [][]string{{"compare", dir, "--by", "version"}, {"view", "history", dir, "--order", "start"},
		{"view", "scaling", dir}} {
		began, at := ownTime(), time.Now()
		status, _, said := parallax(b, append(args, "--json")...)
		fmt.Printf("%v: status %d, CPU %.0f ms, %.0f ms in all %.200s\n", args[:len(args)-1], status, float64(ownTime()-began)/1e3,
			float64(time.Since(at).Milliseconds()), said)
	}
	began, busy := time.Now(), engineTime(b, engine)
	if err := place.Remove(ctx, "night 7"); err != nil {
		b.Fatal(err)
	}
	fmt.Printf("remove a run from ClickHouse: CPU %.0f ms, %.0f ms in all\n", float64(engineTime(b, engine)-busy)/1e3,
		float64(time.Since(began).Milliseconds()))
}

// copyNights copies the first runs in ClickHouse, under other names and starts, until there are so many nights.
func copyNights(b *testing.B, engine *chdbtest.Engine, nights int) {
	if nights <= seeds {
		return
	}
	changed := fmt.Sprintf("run_id + 1000003 * g as run_id, concat('night ', toString(toUInt32(substring(run, 7)) + "+
		"%d * g)) as run, run_start + toIntervalDay(%[1]d * g) as run_start", seeds)
	from := fmt.Sprintf(" array join range(1, %d) as g", nights/seeds)
	list := []string{"lake_runs", "lake_outlines"}
	for _, t := range lake.Tables {
		list = append(list, t.Name+"_rows")
	}
	for _, name := range list {
		change := changed
		if name == "lake_outlines" {
			change = "run_id + 1000003 * g as run_id"
		}
		if err := engine.Exec(context.Background(), "insert into "+name+" select * replace ("+change+") from "+name+
			from); err != nil {
			b.Fatal(err)
		}
	}
}

// least returns the least of three measurements, in microseconds.
func least(measure func() int64) float64 {
	return float64(min(measure(), measure(), measure()))
}

// ownTime is the processor time of this process, in microseconds.
func ownTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return (u.Utime.Sec+u.Stime.Sec)*1e6 + int64(u.Utime.Usec+u.Stime.Usec)
}

// engineTime is the processor time of the engine's statements, in microseconds.
func engineTime(b *testing.B, e *chdbtest.Engine) int64 {
	var micros uint64
	if err := e.QueryRow(context.Background(), "select sum(value) from system.events where event in "+
		"('UserTimeMicroseconds', 'SystemTimeMicroseconds')").Scan(&micros); err != nil {
		b.Fatal(err)
	}
	return int64(micros)
}
