//go:build unix

package clickhouse_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/testing/clustertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestAServerThatFallsSilentInTheMiddleOfAnAnswer: a part of a block has come and the rest does not. The time of the address ends it, and so does
// the caller; then the same reader goes on.
func TestAServerThatFallsSilentInTheMiddleOfAnAnswer(t *testing.T) {
	servers := clustertest.Start(t, 2)
	ctx := context.Background()
	if err := clickhouse.Write(ctx, parse(t, clustertest.Address(servers, "ring")), build(t, ranks(64, 16000)), nil); err != nil {
		t.Fatal(err)
	}
	between := clustertest.NewProxy(t, servers[1], 0)
	open := func(timeout string) *clickhouse.Reader {
		t.Helper()
		address := clustertest.Address([]*clustertest.Server{servers[0], {Host: between.Host}}, "ring")
		r, err := clickhouse.Open(ctx, parse(t, address+"?timeout="+timeout), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	all := func(ctx context.Context, r *clickhouse.Reader) error {
		return r.Intervals(ctx, store.Window{End: r.Info().End}, func(*trace.Columns) error { return nil })
	}
	// The deadline.
	r := open("1s")
	between.StopAfter(100 << 10)
	if err := all(ctx, r); err == nil || !strings.Contains(err.Error(), between.Host+" does not answer") {
		t.Errorf("silent: %v", err)
	}
	between.StopAfter(0)
	if err := all(ctx, r); err != nil {
		t.Errorf("when it answers again: %v", err)
	}
	// The caller goes. If that did not end the request, ten minutes would, with another error.
	r = open("10m")
	between.StopAfter(100 << 10)
	cancelled, cancel := context.WithCancel(ctx)
	asked := make(chan error, 1)
	from := between.Passed()
	go func() { asked <- all(cancelled, r) }()
	for between.Passed() < from+(100<<10) {
		if len(asked) > 0 {
			break
		}
	}
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	between.StopAfter(0)
	if err := all(ctx, r); err != nil {
		t.Errorf("asked again after it was cancelled: %v", err)
	}
}

// TestTablesThatAreNotAsTheyShouldBe: some missing, some of another program, a run of a newer store.
func TestTablesThatAreNotAsTheyShouldBe(t *testing.T) {
	servers := clustertest.Start(t, 1)
	ctx := context.Background()
	a := parse(t, clustertest.Address(servers, "ring"))
	dir := build(t, ranks(4, 300))
	statement := func(text string) {
		t.Helper()
		c, err := driver.Open(&driver.Options{Addr: []string{servers[0].Host}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	wrong := func(what string, err error, want ...string) {
		t.Helper()
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", what, err, w)
			}
		}
	}
	write := func() {
		t.Helper()
		if err := clickhouse.Write(ctx, a, dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	write()
	statement("drop table parallax_shards")
	_, err := clickhouse.Open(ctx, a, nil)
	wrong("a table was dropped", err, servers[0].Host, "parallax_shards", "parallax import SOURCE -o clickhouse://")
	write() // makes it again
	r, err := clickhouse.Open(ctx, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	statement("drop table parallax_blocks")
	err = r.Intervals(ctx, store.Window{End: r.Info().End}, func(*trace.Columns) error { return nil })
	wrong("blocks were dropped while the run is open", err, servers[0].Host, "parallax_blocks")
	statement("drop table parallax_runs")
	statement("create table parallax_runs (run UInt64, name String) engine = MergeTree partition by run order by name")
	_, err = clickhouse.Open(ctx, a, nil)
	wrong("a table with other columns", err, "are not parallax's, or of another version")
	// A newer Parallax may have other columns too: what it says of itself comes first.
	insert(t, servers[0], "insert into parallax_version (run, version)", uint64(0), uint32(clickhouse.Version+1))
	_, err = clickhouse.Open(ctx, a, nil)
	wrong("a newer program's tables", err, "use a newer parallax")
	wrong("a newer program's tables, on import", clickhouse.Write(ctx, a, dir, nil), "use a newer parallax")
}

// TestAServerThatIsTooOldOrNone: what answers at the address says it is ClickHouse 1.1, or speaks something else, or nothing.
func TestAServerThatIsTooOldOrNone(t *testing.T) {
	ctx := context.Background()
	answer := func(with func(net.Conn)) *clickhouse.Address {
		t.Helper()
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					buf := make([]byte, 4096)
					if _, err := c.Read(buf); err == nil {
						with(c)
						_, _ = io.Copy(io.Discard, c)
					}
				}()
			}
		}()
		return parse(t, "clickhouse://"+ln.Addr().String()+"/default/ring?timeout=300ms")
	}
	for _, x := range []struct {
		what, want string
		with       func(net.Conn)
	}{
		// The hello of a server: name, version 1.1, revision 54245, time zone.
		{"ClickHouse 1.1", "runs ClickHouse 1.1, which is too old; 18 or newer is needed", func(c net.Conn) {
			_, _ = c.Write(append([]byte("\x00\x0aClickHouse\x01\x01"), 0xe5, 0xa7, 0x03, 3, 'U', 'T', 'C'))
		}},
		{"a web server", "is this the native port", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }},
		{"nothing", "does not answer", func(net.Conn) {}},
	} {
		a := answer(x.with)
		_, err := clickhouse.Open(ctx, a, nil)
		if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), a.Hosts[0]) {
			t.Errorf("%s: %v, want %q", x.what, err, x.want)
		}
	}
}
