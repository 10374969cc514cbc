package load_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/load"
)

func TestTheCacheForgetsWhatWasUsedLongestAgo(t *testing.T) {
	c, err := load.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Repeat("0", 64)
	older, newer := c.Path("old", key), c.Path("new", key)
	for p, age := range map[string]time.Duration{older: time.Hour, newer: 0} {
		os.MkdirAll(p, 0o755)
		os.WriteFile(filepath.Join(p, "column"), make([]byte, 1000), 0o644)
		used := time.Now().Add(-age)
		os.Chtimes(p, used, used)
	}
	c.Limit = 1500
	kept := func() (out []string) {
		list, _ := c.List()
		for _, s := range list {
			out = append(out, s.Path)
		}
		return out
	}
	if err := c.Trim(older); err != nil || !slices.Equal(kept(), []string{newer, older}) {
		t.Errorf("the store just made must stay: %v, %v", kept(), err)
	}
	if err := c.Trim(""); err != nil || !slices.Equal(kept(), []string{newer}) {
		t.Errorf("past the limit the oldest must go: %v, %v", kept(), err)
	}
}
