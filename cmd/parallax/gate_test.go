package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// iterations writes a run of some iterations, of which solve takes a multiple of its time.
func iterations(t *testing.T, dir, name string, seed uint64, count int, factor float64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	events := []string{`{"ph":"M","pid":0,"name":"process_name","args":{"name":"rank 0"}}`}
	now := 0.0
	add := func(name string, begin, duration float64) {
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":0,"tid":0,"ts":%.3f,"dur":%.3f,"name":%q}`, begin, duration, name))
	}
	for i := range count {
		begin := now
		for _, part := range []struct {
			name string
			time float64
		}{{"assemble", 3000}, {"solve", 9000 * factor}, {"write", 500}} {
			d := part.time * (1 + 0.008*r.NormFloat64())
			add(part.name, now, d)
			now += d
		}
		add(fmt.Sprint("iteration ", i), begin, now-begin)
		now += 20
	}
	path := filepath.Join(dir, name+".json")
	if err := os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareIsAGate(t *testing.T) {
	dir := t.TempDir()
	series := func(name string, n int, seed uint64, count int, factor float64) (out []string) {
		for i := range n {
			out = append(out, iterations(t, dir, fmt.Sprint(name, i), seed+uint64(i), count, factor))
		}
		return out
	}
	old, slow, same, longer := series("a", 5, 0, 12, 1), series("s", 5, 100, 12, 1.3), series("n", 5, 200, 12, 1), series("l", 5, 300, 18, 1)
	for _, c := range []struct {
		what   string
		a, b   []string
		limits []string
		status int
	}{
		{"two slow runs", old[:2], slow[:2], []string{"--fail-on", "length=5%"}, 1},
		{"three slow runs, by region", old[:3], slow[:3], []string{"--fail-on", "solve=10%"}, 1},
		{"five slow runs", old, slow, []string{"--fail-on", "length=5%"}, 1},
		{"no change", old, same, []string{"--fail-on", "length=5%", "--fail-on", "changed=0"}, 0},
		{"one slow run", old[:1], slow[:1], []string{"--fail-on", "length=5%"}, 4},
		{"one slow run, let pass", old[:1], slow[:1], []string{"--fail-on", "length=5%", "--cannot-tell", "pass"}, 0},
		{"one slow run, to fail", old[:1], slow[:1], []string{"--fail-on", "length=5%", "--cannot-tell", "fail"}, 1},
		{"a misspelt limit", old, slow, []string{"--fail-on", "lengthh=5%"}, 2},
		{"an unknown region", old, slow, []string{"--fail-on", "no_such_region=5%"}, 2},
		{"a call path", old, slow, []string{"--fail-on", "iteration … → solve=10%"}, 1},
		{"an unknown call path", old, slow, []string{"--fail-on", "iteration … → slove=10%"}, 2},
		{"a misspelt word", old, slow, []string{"--fail-on", "length=5%", "--cannot-tell", "fial"}, 2},
		{"more iterations of the same code", old, longer, []string{"--fail-on", "length=5%", "--fail-on", "changed=0"}, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			args := append(append(append(append([]string{"compare"}, c.a...), "--"), c.b...), c.limits...)
			var stdout, stderr bytes.Buffer
			status := run(context.Background(), append(args, "--cache", filepath.Join(dir, "cache")), &stdout, &stderr)
			out, problem := stdout.String(), stderr.String()
			if status != c.status {
				t.Errorf("status %d, want %d: %s%s", status, c.status, out, problem)
			}
			if c.status == 4 && !strings.Contains(out, "CANNOT TELL") {
				t.Errorf("it does not say that it cannot tell: %s", out)
			}
			if c.what == "a misspelt limit" && !strings.Contains(problem, `"length"`) && !strings.Contains(problem, "length?") {
				t.Errorf("it does not name the nearest: %s", problem)
			}
		})
	}
}
