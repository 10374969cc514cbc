package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shardSets are real runs of several files or locations: messages, GPUs, goroutines, spans with parents at other locations, profiles.
var shardSets = []string{
	"otf2-hpl8", "otf2-lammps-imbalanced16", "kineto-ddp-8rank", "paje-pingpong4/pingpong4.trace", "go-sync/sync.trace", "public/zipkin/smartthings/yelp.json", "public/tau-profile/cpi-4ranks",
}

// TestShardsOfARunAreTheWholeImport: every file of the store, and so every view, is the same byte by byte.
func TestShardsOfARunAreTheWholeImport(t *testing.T) {
	sources := []string{"demo:stencil"}
	for _, name := range shardSets {
		if path := filepath.Join("../../../shared/data", name); exists(path) {
			sources = append(sources, path)
		}
	}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			t.Setenv("PARALLAX_CACHE", t.TempDir())
			dir := t.TempDir()
			whole, joined := filepath.Join(dir, "whole.plx"), filepath.Join(dir, "run.plx")
			if code, _, stderr := parallax(t, "import", source, "-o", whole); code != 0 {
				t.Fatal(stderr)
			}
			for i, k := range []string{"3", "1", "2"} {
				code, out, stderr := parallax(t, "import", source, "--shard", k+"/3", "-o", filepath.Join(joined, "part-"+k))
				if code != 0 {
					t.Fatal(stderr)
				}
				if want := []string{"2 still to come", "1 still to come", "intervals on"}[i]; !strings.Contains(out, want) {
					t.Errorf("part %s says %q, want %q", k, out, want)
				}
			}
			want, got := filesOf(t, whole), filesOf(t, joined)
			for name, b := range want {
				if !bytes.Equal(b, got[name]) {
					t.Errorf("%s differs", name)
				}
				delete(got, name)
			}
			if len(got) > 0 {
				t.Errorf("%d files too many", len(got))
			}
		})
	}
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShardsThatCannotBeJoinedAreErrors(t *testing.T) {
	t.Setenv("PARALLAX_CACHE", t.TempDir())
	run := filepath.Join(t.TempDir(), "run.plx")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"import", "demo:stencil", "--shard", "5/4", "-o", run}, "want K/N"},
		{[]string{"import", "demo:stencil", "--shard", "0/4", "-o", run}, "want K/N"},
		{[]string{"import", "demo:stencil", "--shard", "two", "-o", run}, "want K/N"},
		{[]string{"import", "demo:stencil", "--shard", "1/4", "-o", filepath.Join(run, "part-2")}, "-o RUN.plx/part-1"},
		{[]string{"import", "demo:stencil", "--shard", "2/2", "-o", filepath.Join(run, "part-2")}, ""},
		{[]string{"info", run}, "part 1 of 2 missing; `parallax import SOURCE --shard 1/2 -o " + filepath.Join(run, "part-1")},
		{[]string{"import", "demo:training", "--shard", "1/2", "-o", run}, "are not of the same source"},
	} {
		code, _, stderr := parallax(t, x.args...)
		if stderr = strings.Join(strings.Fields(stderr), " "); (code != 0) != (x.want != "") || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit %d, %q, want %q", strings.Join(x.args, " "), code, stderr, x.want)
		}
	}
	if slices.Contains(readNames(t, run), "manifest.json") {
		t.Error("parts of two sources became a store")
	}
}

func readNames(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}
