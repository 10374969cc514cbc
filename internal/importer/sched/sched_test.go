package sched

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// Fields of a switch are read as the pattern says, or are left to it.
func TestSwitchesAreReadAsThePatternSays(t *testing.T) {
	r := New(nil, nil)
	lines := []string{"prev_comm=app prev_pid=70 prev_prio=120 prev_state=S ==> next_comm=a b next_pid=71 next_prio=120",
		"prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R+ ==> next_comm= x next_pid=-1 next_prio=120",
		"  prev_comm=a prev_pid=1 prev_pid=2 prev_prio=-1 prev_state=R next_comm=b next_pid=3", "prev_comm=a prev_pid=1 prev_prio=1 prev_state= next_comm=b next_pid=3"}
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for i := range 20_000 {
		b := []byte(lines[i%len(lines)])
		if i >= len(lines) {
			at := random.IntN(len(b))
			if b[at] = " =->1a"[random.IntN(6)]; random.IntN(2) == 0 {
				b = slices.Delete(b, at, at+1)
			}
		}
		prev, next, state, ok := r.switchOf(b)
		if !ok {
			continue
		}
		read++
		m := switchFields.FindSubmatch(b)
		if m == nil {
			t.Fatalf("%q is read, and the pattern does not match", b)
		}
		id := func(b []byte) int64 { n, _ := strconv.ParseInt(string(b), 10, 64); return n }
		if prev != (Task{id(m[2]), string(bytes.TrimSpace(m[1]))}) || next != (Task{id(m[5]), string(bytes.TrimSpace(m[4]))}) || state != string(m[3]) {
			t.Fatalf("%q: %v, %v, %q, want %q", b, prev, next, state, m[1:])
		}
	}
	if read < 3000 {
		t.Errorf("only %d are read", read)
	}
}
