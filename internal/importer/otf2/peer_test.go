package otf2

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// peerWords are names that the peer writes otherwise.
var peerWords = map[string]string{"ParameterInt64": "ParameterInt", "ParameterUint64": "ParameterUnsignedInt", "IoChangeFlags": "IoChangeStatusFlags"}

// peerEvents are the events as otf2-print lists them, with corrected times:
// "name ticks", by location.
func peerEvents(t *testing.T, anchor string) map[string][]string {
	t.Helper()
	tool, err := exec.LookPath("otf2-print")
	if err != nil {
		t.Skip("otf2-print is not installed")
	}
	out, err := exec.Command(tool, anchor).Output()
	if err != nil {
		t.Fatalf("otf2-print: %v", err)
	}
	events := map[string][]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for began := false; lines.Scan(); {
		f := strings.Fields(lines.Text())
		if !began || len(f) < 3 || strings.HasPrefix(lines.Text(), " ") {
			began = began || strings.HasPrefix(lines.Text(), "----")
			continue
		}
		name := camel(f[0])
		if w := peerWords[name]; w != "" {
			name = w
		}
		events[f[1]] = append(events[f[1]], name+" "+f[2])
	}
	return events
}

// ourEvents are the same from our reader, before anything is made of them.
func ourEvents(t *testing.T, dir string) map[string][]string {
	t.Helper()
	s, err := importer.NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{run: runs[0], w: importertest.NewCount()}
	if err := a.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	events := map[string][]string{}
	for id, name := range a.files.events {
		clock := correction{}
		if file, ok := a.files.locals[id]; ok {
			f, err := a.openFile(file)
			if err != nil {
				t.Fatal(err)
			}
			clock = readLocal(new(definitionReader), f).clock
			f.Close()
		}
		f, err := a.openFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var r eventReader
		var e event
		key := decimal(id)
		for r.open(f, a.defs.resolution); r.next(&e); {
			events[key] = append(events[key], fmt.Sprint(eventNames[e.id], " ", clock.at(e.ticks)))
		}
		f.Close()
	}
	return events
}

func anchorOf(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.otf2"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d anchors in %s: %v", len(found), dir, err)
	}
	return found[0]
}

func TestEventsAndTimesAreThoseOfThePeer(t *testing.T) {
	dirs := []string{"testdata/ping-pong-2ranks", "testdata/records"}
	for _, name := range append(append([]string{}, made...), public...) {
		if p := filepath.Join("../../../../shared/data", name); exists(p) {
			dirs = append(dirs, p)
		}
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := peerEvents(t, anchorOf(t, dir))
			got := ourEvents(t, dir)
			if len(got) != len(want) {
				t.Errorf("%d locations have events, want %d", len(got), len(want))
			}
			for location, list := range want {
				if n := len(got[location]); n != len(list) {
					t.Errorf("location %s has %d events, want %d", location, n, len(list))
					continue
				}
				for i := range list {
					if got[location][i] != list[i] {
						t.Fatalf("event %d of location %s is %q, want %q", i, location, got[location][i], list[i])
					}
				}
			}
		})
	}
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}
