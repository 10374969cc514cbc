package addresses

import (
	"math/rand/v2"
	"testing"
)

// A map answers as a plain list does, of which the last range that begins at or before an address decides.
func TestMapAnswersAsAList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var m Map[int]
	list := map[uint64][2]int{} // by begin: end and value
	for i := range 5000 {
		begin, length := random.Uint64N(20_000), 1+random.Uint64N(30)
		m.Put(begin, length, i)
		for at := begin; at < begin+length; at++ {
			delete(list, at)
		}
		list[begin] = [2]int{int(begin + length), i}
	}
	for at := range uint64(20_040) {
		want, found := 0, false
		for begin := int(at); begin >= 0; begin-- {
			if e, ok := list[uint64(begin)]; ok {
				want, found = e[1], int(at) < e[0]
				break
			}
		}
		if got, ok := m.Find(at); ok != found || found && got != want {
			t.Fatalf("at %d is %d %v, want %d %v", at, got, ok, want, found)
		}
	}
	if len(m.blocks) < 2 {
		t.Error("one block: nothing was divided")
	}
}

func TestMoveAndClone(t *testing.T) {
	var m Map[string]
	m.Put(100, 10, "f")
	copied := m.Clone()
	m.Move(100, 500)
	if _, ok := m.Find(105); ok {
		t.Error("f is still where it was")
	}
	if name, ok := m.Find(505); !ok || name != "f" {
		t.Error("f is not where it was moved to")
	}
	if _, ok := copied.Find(105); !ok {
		t.Error("the copy moved too")
	}
	m.Put(^uint64(0)-5, 0, "end")
	if name, _ := m.Find(^uint64(0) - 2); name != "end" {
		t.Error("nothing at the end")
	}
}
