//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/testing/clustertest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// BenchmarkClusterScale writes a stencil of each length to one server and to two, and asks six views of it: of the run just opened, when
// all blocks are to be fetched, and again, each against the local store. PARALLAX_BENCH_ROWS=no leaves out the tables for SQL and the single server. `make bench-cluster` prints the table of docs/scale.md.
func BenchmarkClusterScale(b *testing.B) {
	list := os.Getenv("PARALLAX_BENCH_SIZES")
	if list == "" {
		list = "1e5"
	}
	ctx := context.Background()
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			c, err := load.OpenCache(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			l := newLoader(c, 1<<30, nil)
			source := fmt.Sprintf("demo:stencil?locations=256&intervals=%.0f", n)
			if given := os.Getenv("PARALLAX_BENCH_STORE"); given != "" {
				source = given // which takes as long to make as all else
			}
			found, done, err := l.Find([]string{source})
			defer done()
			if err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			path, err := l.Local(ctx, found[0])
			if err != nil {
				b.Fatal(err)
			}
			here, err := l.Open(ctx, found[0])
			if err != nil {
				b.Fatal(err)
			}
			defer here.Store.Close()
			rows := float64(here.Store.Info().Intervals)
			b.Logf("import into the local store: %.2f M rows/s, %.1f bytes a row", rows/1e6/time.Since(began).Seconds(), float64(load.TreeSize(path))/rows)
			counts := []int{1, 2}
			if os.Getenv("PARALLAX_BENCH_ROWS") == "no" {
				counts = counts[1:]
			}
			for _, servers := range counts {
				benchCluster(ctx, b, l, servers, path, here)
			}
		})
	}
}

func benchCluster(ctx context.Context, b *testing.B, l *load.Loader, n int, path string, here view.Run) {
	servers := clustertest.Start(b, n)
	rows := float64(here.Store.Info().Intervals)
	kinds := []string{"?rows=no", ""}
	if os.Getenv("PARALLAX_BENCH_ROWS") == "no" {
		kinds = kinds[:1]
	}
	for _, options := range kinds {
		a, err := clickhouse.Parse(clustertest.Address(servers, "stencil") + options)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := clickhouse.Write(ctx, a, path, nil); err != nil {
			b.Fatal(err)
		}
		seconds := time.Since(began).Seconds()
		size := int64(0)
		for _, s := range servers {
			size += load.TreeSize(filepath.Join(s.Dir(), "data"))
		}
		b.Logf("%d servers, blocks%s: %.2f M rows/s, %.1f bytes a row with what is not merged yet", n, map[string]string{"": " and rows for SQL"}[options], rows/1e6/seconds, float64(size)/rows)
	}
	ask := func(r view.Run, v *view.View) time.Duration {
		r.Cache = derived.NewCache(nil)
		began := time.Now()
		if _, err := twinOf(ctx, v, r); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	// opened is how long it takes to open a run and to see a view of it first, and again: the best of three, since others use the cores too.
	opened := func(source string, v *view.View) (first, again time.Duration, requests, bytes int64) {
		first, again = time.Hour, time.Hour
		for range 3 {
			began := time.Now()
			r, err := l.One(ctx, []string{source})
			if err != nil {
				b.Fatal(err)
			}
			ask(r, v)
			first, again = min(first, time.Since(began)), min(again, ask(r, v), ask(r, v))
			if far, ok := r.Store.(*clickhouse.Reader); ok {
				requests, bytes = far.Traffic()
			}
			r.Store.Close()
		}
		return first, again, requests, bytes
	}
	for _, name := range []string{"timeline", "moments", "callmatrix", "treemap", "profile", "commmatrix"} {
		v := findView(name)
		first, again, requests, bytes := opened(clustertest.Address(servers, "stencil"), v)
		localFirst, localAgain, _, _ := opened(path, v)
		ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
		b.Logf("%d servers, %-10s opened and first %.0f ms (local %.0f, %.1f times), again %.1f ms (local %.1f, %.1f times); %d requests, %.1f MB", n, name, ms(first), ms(localFirst),
			ms(first)/ms(localFirst), ms(again), ms(localAgain), ms(again)/ms(localAgain), requests, float64(bytes)/1e6)
	}
}

// BenchmarkClusterLatency asks six views of a stencil on two servers that are 100 ms away, each of a run just opened, and again.
func BenchmarkClusterLatency(b *testing.B) {
	size := os.Getenv("PARALLAX_BENCH_SIZES")
	if size == "" {
		size = "1e5"
	}
	n, err := strconv.ParseFloat(size, 64)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	c, err := load.OpenCache(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	l := newLoader(c, 1<<30, nil)
	found, done, err := l.Find([]string{fmt.Sprintf("demo:stencil?locations=256&intervals=%.0f", n)})
	defer done()
	if err != nil {
		b.Fatal(err)
	}
	path, err := l.Local(ctx, found[0])
	if err != nil {
		b.Fatal(err)
	}
	servers := clustertest.Start(b, 2)
	a, err := clickhouse.Parse(clustertest.Address(servers, "stencil") + "?rows=no")
	if err != nil {
		b.Fatal(err)
	}
	if err := clickhouse.Write(ctx, a, path, nil); err != nil {
		b.Fatal(err)
	}
	const far = 100 * time.Millisecond
	proxies := []*clustertest.Proxy{clustertest.NewProxy(b, servers[0], far), clustertest.NewProxy(b, servers[1], far)}
	address := clustertest.Address([]*clustertest.Server{{Host: proxies[0].Host}, {Host: proxies[1].Host}}, "stencil")
	for _, name := range []string{"timeline", "moments", "callmatrix", "treemap", "profile", "commmatrix"} {
		v := findView(name)
		report := func(what string, f func()) {
			turns, dials, bytes := int64(0), int64(0), int64(0)
			for _, p := range proxies {
				turns, dials, bytes = turns-p.Turns(), dials-p.Dials(), bytes-p.Passed()
			}
			began := time.Now()
			f()
			took := time.Since(began)
			for _, p := range proxies {
				turns, dials, bytes = turns+p.Turns(), dials+p.Dials(), bytes+p.Passed()
			}
			b.Logf("%-10s %-6s %6.2f s, as long as %3.0f round trips; %d asked in all, %d connections, %.1f MB", name, what, took.Seconds(), took.Seconds()/far.Seconds(), turns, dials, float64(bytes)/1e6)
		}
		var there view.Run
		report("open", func() {
			if there, err = l.One(ctx, []string{address}); err != nil {
				b.Fatal(err)
			}
		})
		for _, what := range []string{"first", "again"} {
			report(what, func() {
				there.Cache = derived.NewCache(nil)
				if _, err := twinOf(ctx, v, there); err != nil {
					b.Fatal(err)
				}
			})
		}
		there.Store.Close()
	}
}
