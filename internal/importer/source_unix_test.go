//go:build unix

package importer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestNonFilesAreSkippedAndNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good.json", []byte("[]"))
	write(t, dir, "sub/also.json", []byte("[]"))
	write(t, dir, ".hidden", []byte("x"))
	os.Symlink(dir, filepath.Join(dir, "sub", "loop"))
	os.Symlink("nowhere", filepath.Join(dir, "dangling"))
	os.Symlink(filepath.Join(dir, "good.json"), filepath.Join(dir, "link.json"))
	syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)
	s, err := NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Files {
		got = append(got, f.Path)
	}
	if want := []string{"good.json", "link.json", "sub/also.json"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	why := map[string]string{}
	for _, k := range s.Skipped {
		why[k.Path] = k.Why
	}
	for p, say := range map[string]string{"sub/loop": "listed already", "dangling": "no such file", "pipe": "a pipe", ".hidden": "hidden"} {
		if !strings.Contains(why[p], say) {
			t.Errorf("%s skipped because %q, want %q", p, why[p], say)
		}
	}
}

func TestPathsThatCannotBeOpenedSayWhy(t *testing.T) {
	dir := t.TempDir()
	syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)
	for name, want := range map[string]struct {
		kind error
		say  string
	}{
		"missing":   {ErrNotFound, "no such file or directory"},
		"pipe":      {ErrUnsupported, "a pipe"},
		"/dev/null": {ErrUnsupported, "a device"},
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		_, err := NewSource(name)
		if !errors.Is(err, want.kind) || !strings.Contains(err.Error(), want.say) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if _, err := NewSource(write(t, dir, "broken.zip", []byte("PK\x03\x04 and nothing else"))); !errors.Is(err, ErrMalformed) {
		t.Errorf("broken zip: error is %v", err)
	}
}

// TestFilesOfTheKernelAreRefused: reading one, such as /proc/kmsg, may wait for ever.
func TestFilesOfTheKernelAreRefused(t *testing.T) {
	for _, name := range []string{"/proc/kmsg", "/proc/self/status", "/dev/null"} {
		if _, err := os.Stat(name); err != nil {
			continue
		}
		var refused *Error
		if _, err := NewSource(name); !errors.As(err, &refused) || !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
