package clickhouse

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/local"
)

// Blocks that follow each other are named by the first and the last, others one by one, each file once.
func TestBlocksAreNamedByFile(t *testing.T) {
	var keys []key
	for _, b := range []uint32{3, 7, 8} {
		keys = append(keys, key{1, b})
	}
	for b := range uint32(20) {
		keys = append(keys, key{2, b + 100})
	}
	keys = append(keys, key{2, 500})
	want := "file = 1 and (block in (3,7,8)) or file = 2 and (block between 100 and 119 or block in (500))"
	if got := conditionOf(keys); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	keys = keys[:0]
	for run := range uint32(30) { // no statement has more ranges than the index can be searched by
		for b := range uint32(20) {
			keys = append(keys, key{1, 100*run + b})
		}
	}
	if n := strings.Count(conditionOf(keys), "between"); n != mostRuns {
		t.Errorf("%d ranges, want %d", n, mostRuns)
	}
}

// Blocks are filled up to one length only where that adds little.
func TestBlocksComeInOneLengthWhereMostAreWhole(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		want  string
	}{{[]int{16384, 16384, 16384, 100}, "toFixedString(data, 16384)"}, {[]int{16384, 80, 100}, "data"}} {
		want := map[key]local.Piece{}
		var keys []key
		for i, n := range c.sizes {
			k := key{1, uint32(i)}
			keys, want[k] = append(keys, k), local.Piece{Into: make([]byte, n)}
		}
		if got := dataOf(keys, want); got != c.want {
			t.Errorf("%v: %s, want %s", c.sizes, got, c.want)
		}
	}
}
