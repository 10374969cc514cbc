package importer

import "testing"

func TestOnceDefinesOnce(t *testing.T) {
	known, defined := map[string]int{}, 0
	define := func() int { defined++; return 7 }
	for range 2 {
		if v := Once(known, "a", define); v != 7 || defined != 1 {
			t.Errorf("%d, defined %d times", v, defined)
		}
	}
}
