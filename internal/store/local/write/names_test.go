package write

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTablesOfIDsFindWhatAMapFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, spread := range []uint32{1, 7, 1 << 31} { // few hashes: everything collides
		var table IdTable
		var names []string
		known := map[string]uint32{}
		for range 3000 {
			name := fmt.Sprint("name ", random.IntN(1000))
			hash := uint32(len(name)*7+int(name[len(name)-1])) % spread
			id, ok := table.Find(hash, func(id uint32) bool { return names[id] == name })
			want, wanted := known[name]
			if ok != wanted || ok && id != want {
				t.Fatalf("%q is %d, %v, want %d, %v", name, id, ok, want, wanted)
			}
			if !ok {
				known[name] = uint32(len(names))
				table.Add(hash, uint32(len(names)))
				names = append(names, name)
			}
		}
		if table.count != len(known) {
			t.Errorf("the table counts %d, want %d", table.count, len(known))
		}
	}
}

func TestStringsInAnArenaStayWhatTheyAre(t *testing.T) {
	var a arena
	buf := make([]byte, 0, 64)
	var kept, want []string
	for i := range 20_000 {
		buf = fmt.Appendf(buf[:0], "goroutine %d", i)
		kept, want = append(kept, a.keep(string(buf))), append(want, fmt.Sprint("goroutine ", i))
	}
	long := strings.Repeat("x", arenaBlock)
	kept, want = append(kept, a.keep(long), a.keep("")), append(want, long, "")
	for i := range want {
		if kept[i] != want[i] {
			t.Fatalf("string %d is %.40q, want %.40q", i, kept[i], want[i])
		}
	}
}

func TestEqualStringsHaveOneNumberInMemoryAndOnDisk(t *testing.T) {
	table, err := newTextTable(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer table.close()
	known := map[string]uint64{}
	var texts []string
	for i := range 4 * recentTexts {
		texts = append(texts, strings.Repeat(fmt.Sprint("frame ", i%(3*recentTexts), "\n"), 4))
	}
	for range 3 {
		for _, s := range texts {
			for _, same := range []string{s, strings.Clone(s), s[:len(s)-1]} {
				id := table.add(same)
				if want, ok := known[same]; ok && id != want {
					t.Fatalf("%q has number %d, had %d", same, id, want)
				}
				known[same] = id
			}
		}
	}
	if int(table.count) != len(known) {
		t.Errorf("%d numbers for %d texts", table.count, len(known))
	}
}
