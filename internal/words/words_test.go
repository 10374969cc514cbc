package words

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// Names are listed as one prefix with numbers only where each is that prefix and a number as it is written.
func TestNamesAreListedByTheirNumbers(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"rank 0", "rank 4", "rank 8", "rank 9", "rank 10"}, "rank 0, 4, 8–10"},
		{[]string{"rank 1", "rank 02"}, "rank 1, rank 02"},
		{[]string{"rank 1", "node 2"}, "rank 1, node 2"},
		{[]string{"rank 1", "rank "}, "rank 1, rank "},
		{[]string{"7", "8", "9"}, "7–9"},
		{[]string{"a 1", "a 99999999999999999999"}, "a 1, a 99999999999999999999"},
		{[]string{"a1b", "a1b"}, "a1b, a1b"},
		{[]string{"a 1", "a 1-2"}, "a 1, a 1-2"},
		{[]string{"a 1", "a b 2"}, "a 1, a b 2"},
	} {
		members := make([]int32, len(c.names))
		for i := range members {
			members[i] = int32(i)
		}
		if got := NameList(c.names, members, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

func TestNumbersAfterAPrefixAreThoseOfTheParser(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		digits := make([]byte, r.IntN(22))
		for i := range digits {
			digits[i] = "0123456789x-+"[r.IntN(10+r.IntN(4))]
		}
		name := "a " + string(digits)
		want, err := strconv.Atoi(string(digits))
		ok := err == nil && fmt.Sprint(want) == string(digits) && !strings.HasPrefix(string(digits), "-")
		got, is := numberAfter(name, "a ")
		if is && (!ok || got != want) || !is && ok && len(digits) <= 18 {
			t.Fatalf("%q: %d, %v; want %d, %v", name, got, is, want, ok)
		}
	}
}
