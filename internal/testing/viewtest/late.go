package viewtest

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// SameLate checks that a view of many locations answers the same whether the rows of calls are held or stay in the store,
// and that the first elements of a list are those of the whole list.
func SameLate(t *testing.T, v *view.View, list string, cases ...Case) {
	defer func(n int) { view.ManyOwners = n }(view.ManyOwners)
	const many = 200 // locations, below what a view draws one by one
	r := Local(t, func(w trace.Writer) { WriteSteps(w, 260, 5200) })
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			c.Reader = func(testing.TB) store.Reader { return r }
			view.ManyOwners = 1 << 20
			held := everything(t, v, &c, r)
			whole := c.Compute(t, v, r)
			view.ManyOwners = many
			if late := everything(t, v, &c, r); !bytes.Equal(late, held) {
				t.Errorf("rows in the store give other answers: %d bytes, %d where they are held", len(late), len(held))
			}
			firstOfList(t, c.Compute(t, v, r), reflect.ValueOf(whole.Data()), list)
		})
	}
}

// firstOfList checks the beginning of a list against the whole of it.
func firstOfList(t *testing.T, late view.Result, whole reflect.Value, name string) {
	t.Helper()
	all := whole.FieldByName(name)
	for _, most := range []int{1, 50, 700, all.Len() + 1} {
		data, full := late.(view.Starter).Start(most)
		if err := view.Failed(late); err != nil {
			t.Fatal(err)
		}
		first := reflect.ValueOf(data).FieldByName(name)
		n := min(most, all.Len())
		if first.Len() < n || !reflect.DeepEqual(first.Slice(0, n).Interface(), all.Slice(0, n).Interface()) {
			t.Errorf("the first %d of %d elements differ", n, all.Len())
		}
		if whole.FieldByName("Overlap").Int() == 0 && full == nil {
			t.Error("the rows are held")
		}
		for what, n := range full {
			if n != all.Len() {
				t.Errorf("%d %s, want %d", n, what, all.Len())
			}
		}
	}
}
