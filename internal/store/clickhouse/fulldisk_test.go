//go:build unix

package clickhouse_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/testing/clustertest"
	"github.com/parallax-hpc/parallax/internal/testing/disktest"
)

// TestADiskThatIsFullOnOneShard: the error names the server and says what to do, nothing of the run is visible or left on
// the other server, runs that are there stay, and the same import succeeds when there is room.
func TestADiskThatIsFullOnOneShard(t *testing.T) {
	servers := clustertest.StartOn(t, "", "160m")
	ctx := context.Background()
	at := func(run string) *clickhouse.Address { return parse(t, clustertest.Address(servers, run)) }
	small := build(t, ranks(16, 3000))
	if err := clickhouse.Write(ctx, at("small"), small, nil); err != nil {
		t.Fatal(err)
	}
	blocks := ask(t, servers[0], "select count() from parallax_blocks")
	ballast := filepath.Join(servers[1].Dir(), "data", "ballast")
	disktest.Fill(t, ballast)
	large := build(t, ranks(64, 16_000))
	err := clickhouse.Write(ctx, at("large"), large, nil)
	if err == nil || !strings.Contains(err.Error(), servers[1].Host+" has no room left for its data") ||
		!strings.Contains(err.Error(), "parallax rm") {
		t.Fatalf("a full disk: %v", err)
	}
	t.Log(err)
	if _, err := clickhouse.Open(ctx, at("large"), nil); err == nil || !strings.Contains(err.Error(), "large") {
		t.Errorf("half of a run is opened: %v", err)
	}
	all, err := clickhouse.List(ctx, at(""))
	if err != nil || len(all) != 1 || all[0].Name != "small" {
		t.Errorf("runs: %v, %v", all, err)
	}
	if n := ask(t, servers[0], "select count() from parallax_blocks"); n != blocks {
		t.Errorf("%d blocks on the server with room, want %d", n, blocks)
	}
	for _, run := range []string{"small", "large"} {
		if run == "large" {
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			if err := clickhouse.Write(ctx, at(run), large, nil); err != nil {
				t.Fatalf("when there is room: %v", err)
			}
		}
		r, err := clickhouse.Open(ctx, at(run), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("%s: %v", run, err)
		}
		r.Close()
	}
}
