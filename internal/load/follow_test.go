package load_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/recorder"
)

// follower looks at a source and says how many intervals, or rows of profiles, each run has that changed.
func follower(t *testing.T, sources ...string) (look func() (map[string]int64, error)) {
	t.Helper()
	f, err := loader(t, filepath.Join(t.TempDir(), "cache")).NewFollower()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func() (map[string]int64, error) {
		out := map[string]int64{}
		err := f.Look(context.Background(), sources, func(name string, r view.Run, done func()) {
			i := r.Store.Info()
			out[name] = i.Intervals + i.Profile
			r.Store.Close()
			done()
		})
		return out, err
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func spanLine(id int) string {
	return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","spanId":"%016x","name":"GET","startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]}]}`+"\n",
		id, 1700000000000000000+id*1000, 1700000000000000500+id*1000)
}

func TestFilesAreShownAsTheyGrowAndHalfARecordIsWaitedFor(t *testing.T) {
	chrome := func(id int) string {
		return fmt.Sprintf(`,{"ph":"X","name":"w","pid":1,"tid":1,"ts":%d,"dur":5}`+"\n", 10*id)
	}
	for _, c := range []struct {
		name, file, head string
		record           func(int) string
	}{
		{"OTLP lines", "spans.jsonl", "", spanLine},
		{"Chrome JSON", "trace.json", `[{"ph":"X","name":"w","pid":1,"tid":1,"ts":0,"dur":5}` + "\n", chrome},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, c.file)
			look := follower(t, dir)
			sees := func(want int64) {
				t.Helper()
				got, err := look()
				if err != nil || len(got) != min(1, int(want)) {
					t.Fatalf("%v, %v; want %d intervals", got, err, want)
				}
				for _, n := range got {
					if n != want {
						t.Errorf("%d intervals, want %d", n, want)
					}
				}
			}
			sees(0) // an empty directory is waited for
			write(t, file, c.head+c.record(1))
			first := int64(strings.Count(c.head, "{") + 1)
			sees(first)
			sees(0) // nothing new
			half := c.record(2)
			write(t, file, half[:len(half)/2])
			if got, err := look(); err != nil || len(got) > 1 {
				t.Fatalf("half a record: %v, %v", got, err)
			}
			write(t, file, half[len(half)/2:])
			sees(first + 1)
			for i := 3; i < 50; i++ {
				write(t, file, c.record(i))
			}
			sees(first + 48)
		})
	}
}

func TestRecordersAreShownWhileTheyRun(t *testing.T) {
	dir := t.TempDir()
	look := follower(t, dir)
	for rank := range 3 {
		s := recorder.New(recorder.Options{Name: "program", Rank: rank})
		w := s.Worker("main")
		w.Begin()
		time.Sleep(time.Millisecond)
		w.End()
		if err := s.WriteFile(filepath.Join(dir, fmt.Sprintf("rank-%d.plxmom", rank))); err != nil {
			t.Fatal(err)
		}
		if got, err := look(); err != nil || len(got) != 1 {
			t.Errorf("after rank %d: %v, %v", rank, got, err)
		}
	}
}

// What cannot be read is an error only where it stays as it is, and is said once.
func TestAnUnreadableSourceIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "notes.txt"), "nothing to see here\n")
	look := follower(t, dir)
	said := 0
	for range 4 {
		if _, err := look(); err != nil {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
}
