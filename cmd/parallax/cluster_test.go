//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/testing/clustertest"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

// clusterSets are real data of several kinds: processes that send messages, threads, GPUs, goroutines, services, profiles.
var clusterSets = []string{
	"otf2-hpl8", "otf2-lammps-imbalanced16", "kineto-ddp-8rank", "paje-hpl128-g5k", "go-sync", "public/zipkin/smartthings/yelp.json", "public/tau-profile/cpi-4ranks", "chrome-node",
}

// TestViewsOfAClusterAreThoseOfTheLocalStore: every view's JSON, byte by byte. Without PARALLAX_CLUSTER=full two sets are enough.
func TestViewsOfAClusterAreThoseOfTheLocalStore(t *testing.T) {
	servers := clustertest.Start(t, 2)
	sets := []string{"demo:stencil"}
	found := 0
	for _, name := range clusterSets {
		if path := filepath.Join("../../../shared/data", name); exists(path) {
			sets = append(sets, path)
			found++
		}
	}
	if os.Getenv("PARALLAX_CLUSTER") != "full" {
		sets = sets[:min(2, len(sets))]
	} else if found < 6 {
		t.Skipf("%d of six real sets are here", found)
	}
	ctx := context.Background()
	c, err := load.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(c, 256<<20, nil)
	for i, source := range sets {
		t.Run(filepath.Base(source), func(t *testing.T) {
			found, done, err := l.Find([]string{source})
			defer done()
			if err != nil {
				t.Fatal(err)
			}
			here, err := l.Open(ctx, found[0])
			if err != nil {
				t.Fatal(err)
			}
			defer here.Store.Close()
			path, err := l.Local(ctx, found[0])
			if err != nil {
				t.Fatal(err)
			}
			address := clustertest.Address(servers, "set"+string(rune('a'+i)))
			a, err := clickhouse.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if err := clickhouse.Write(ctx, a, path, nil); err != nil {
				t.Fatal(err)
			}
			there, err := l.One(ctx, []string{address})
			if err != nil {
				t.Fatal(err)
			}
			defer there.Store.Close()
			if !strings.HasPrefix(there.Source, "clickhouse://") {
				t.Errorf("a run of a cluster says that it is from %s", there.Source)
			}
			there.Name, there.Source = here.Name, here.Source // all else must be the same
			shown := 0
			for _, v := range views.Views {
				if v.Needs.Missing(here.Store) != "" {
					continue
				}
				want, wantErr := twinOf(ctx, v, here)
				got, gotErr := twinOf(ctx, v, there)
				switch {
				case (wantErr == nil) != (gotErr == nil) || wantErr != nil && wantErr.Error() != gotErr.Error():
					t.Errorf("%s: %v here, %v there", v.Name, wantErr, gotErr)
				case !bytes.Equal(want, got):
					t.Errorf("%s: %d bytes here, %d there, and they differ", v.Name, len(want), len(got))
				case wantErr == nil:
					shown++
				}
			}
			if shown < 5 {
				t.Errorf("only %d views were compared", shown)
			}
		})
	}
}

// twinOf is the JSON of a view of the whole run.
func twinOf(ctx context.Context, v *view.View, r view.Run) ([]byte, error) {
	values, err := view.NewValues(v, nil)
	if err != nil {
		return nil, err
	}
	q := &view.Request{Runs: []view.Run{r}, Values: values, Size: scene.Size{Width: 900, Height: 600}}
	if q.Selection, err = (view.Spec{}).Resolve(r.Store); err != nil {
		return nil, err
	}
	result, err := view.Ask(ctx, v, q)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = view.TwinOf(v, q, result).WriteJSON(&b)
	return b.Bytes(), err
}
