package derived_test

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/derived"
)

// An element has what results have: numbers, names, lists.
type element struct {
	Number int
	Name   string
	List   []int64
}

func TestALongListIsReadAsItWasWritten(t *testing.T) {
	type result struct {
		List  derived.Long[element]
		After string
	}
	for _, n := range []int{0, 1, 8192, 8193, 50_000} {
		x := result{List: make(derived.Long[element], n), After: "end"}
		for i := range x.List {
			x.List[i] = element{i, "name", make([]int64, i%3)}
			for k := range x.List[i].List {
				x.List[i].List[k] = int64(i - k)
			}
			if i%3 == 0 {
				x.List[i].List = nil // gob does not tell an empty list from none
			}
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(x); err != nil {
			t.Fatal(err)
		}
		var y result
		if err := gob.NewDecoder(&b).Decode(&y); err != nil {
			t.Fatal(err)
		}
		if len(y.List) != n || y.After != "end" || n > 0 && !reflect.DeepEqual(x, y) {
			t.Errorf("%d elements are read as %d", n, len(y.List))
		}
	}
}

func TestADamagedLongListIsRefused(t *testing.T) {
	good, err := derived.Long[element]{{1, "a", nil}, {2, "b", nil}}.GobEncode()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty":         nil,
		"cut":           good[:len(good)-1],
		"more":          append(append([]byte{}, good...), 0),
		"another count": append([]byte{3}, good[1:]...),
		"a huge count":  append([]byte{0xff, 0xff, 0xff, 0xff, 0x7f}, good[1:]...),
	} {
		var l derived.Long[element]
		if err := l.GobDecode(b); err == nil {
			t.Errorf("%s: it is read as %v", name, l)
		}
	}
}
