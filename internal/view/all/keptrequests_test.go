package all

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// manySpans says that a run has many intervals, so that what a first look shows is kept; closed, that none may be read.
type manySpans struct {
	store.Reader
	store.Keeper
	closed bool
	wholly atomic.Int64 // readings of the whole time
}

var errClosed = errors.New("the spans are not to be read")

func (m *manySpans) Info() *store.Info {
	x := *m.Reader.Info()
	x.Intervals = 1 << 20
	return &x
}

func (m *manySpans) Count(w store.Window) (int64, error) {
	n, err := m.Reader.Count(w)
	return n * m.Info().Intervals / m.Reader.Info().Intervals, err
}

func (m *manySpans) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	if m.closed {
		return errClosed
	}
	if w.Begin <= 0 && w.End >= m.Reader.Info().End {
		m.wholly.Add(1)
	}
	return m.Reader.Intervals(ctx, w, f)
}

func openShop(t *testing.T) *manySpans {
	shop, _ := demo.Find("shop?intervals=3000")
	r := viewtest.Local(t, func(w trace.Writer) {
		if err := shop.Write(t.Context(), shop.Options, w); err != nil {
			t.Fatal(err)
		}
	})
	return &manySpans{Reader: r, Keeper: r.(store.Keeper)}
}

// What the first look at many requests shows is made at import and kept with the store: no span is read for it, and it is what a look at all
// spans gives, in pictures and numbers.
func TestTheFirstLookAtManyRequestsIsKeptWithTheirStore(t *testing.T) {
	m := openShop(t)
	looks := []struct {
		view    string
		options map[string][]string
	}{
		{"requests", nil}, {"services", nil}, {"criticalpath", nil}, {"findings", nil},
		{"criticalpath", map[string][]string{"by": {"operation"}}}, {"criticalpath", map[string][]string{"by": {"service"}}},
	}
	look := func(i int) (string, error) {
		v := Views[slices.IndexFunc(Views, func(v *view.View) bool { return v.Name == looks[i].view })]
		c := viewtest.Case{Options: looks[i].options, Size: scene.Size{Width: 1000, Height: 700}}
		q := c.Request(t, v, m)
		x, err := v.Compute(t.Context(), q)
		if err != nil {
			return "", err
		}
		b, err := json.Marshal([]any{x.Data(), x.Notes(), x.Table(), x.Scene(c.Size)})
		return string(b), err
	}
	want := make([]string, len(looks))
	for i := range looks {
		var err error
		if want[i], err = look(i); err != nil {
			t.Fatal(looks[i], err)
		}
	}
	m.closed = true
	if _, err := look(0); !errors.Is(err, errClosed) {
		t.Fatalf("nothing is kept yet, but spans are not read: %v", err)
	}
	m.closed = false
	if err := requests.OverviewOfRun.Prepare(t.Context(), &view.Run{Store: m}); err != nil {
		t.Fatal(err)
	}
	m.closed = true
	for i := range looks {
		if got, err := look(i); err != nil || got != want[i] {
			at := 0
			for at < min(len(got), len(want[i])) && got[at] == want[i][at] {
				at++
			}
			t.Errorf("%v: %v: from byte %d on\n%.300s\nwant\n%.300s", looks[i], err, at, got[at:], want[i][at:])
		}
	}
	c := viewtest.Case{Spec: view.Spec{To: "50%"}, Size: scene.Size{Width: 1000, Height: 700}}
	v := Views[slices.IndexFunc(Views, func(v *view.View) bool { return v.Name == "services" })]
	if _, err := v.Compute(t.Context(), c.Request(t, v, m)); !errors.Is(err, errClosed) {
		t.Errorf("a part of the time is shown without its spans: %v", err)
	}
}

// One request of many is read by itself, and it is what it is among all.
func TestOneRequestOfManyIsReadWithoutTheOthers(t *testing.T) {
	m := openShop(t)
	f, err := request.Gather(runfacts.SpanSourceOf(t.Context(), m))
	if err != nil {
		t.Fatal(err)
	}
	look := func(name, id string) string {
		v := Views[slices.IndexFunc(Views, func(v *view.View) bool { return v.Name == name })]
		c := viewtest.Case{Options: map[string][]string{"request": {id}}, Size: scene.Size{Width: 1000, Height: 700}}
		x, err := v.Compute(t.Context(), c.Request(t, v, m))
		if err != nil {
			t.Fatal(name, id, err)
		}
		b, err := json.Marshal([]any{x.Data(), x.Notes(), x.Table(), x.Scene(c.Size)})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	n := len(f.Requests)
	want := map[string]string{}
	for _, k := range []int{0, n / 3, n / 2, n - 2, int(f.Slowest(f.Within(0, math.MaxInt64, nil)))} {
		for _, name := range []string{"requests", "criticalpath"} {
			want[name+" "+f.Requests[k].ID] = look(name, f.Requests[k].ID)
		}
	}
	if err := requests.OverviewOfRun.Prepare(t.Context(), &view.Run{Store: m}); err != nil {
		t.Fatal(err)
	}
	m.wholly.Store(0)
	for key, text := range want {
		name, id, _ := strings.Cut(key, " ")
		if got := look(name, id); got != text {
			t.Errorf("%s: %.300s\nwant %.300s", key, got, text)
		}
	}
	if n := m.wholly.Load(); n > 0 {
		t.Errorf("all spans were read %d times", n)
	}
}

// Of a part of the time only that part is read, as far as what is kept says where its requests are; what is shown is what a look at all spans gives.
func TestRequestsOfAPartOfTheTimeAreReadWithoutTheOthers(t *testing.T) {
	m := openShop(t)
	type look struct {
		view, from, to string
		options        map[string][]string
	}
	var looks []look
	for _, part := range [][2]string{{"40%", "60%"}, {"0", "10%"}, {"93%", "100%"}, {"50%", "50.1%"}} {
		for _, name := range []string{"requests", "services", "criticalpath", "findings"} {
			looks = append(looks, look{name, part[0], part[1], nil})
			if name != "findings" {
				for _, words := range [][]string{{"slow:20%"}, {"errors"}, {"http.method=GET", "<1h"}} {
					looks = append(looks, look{name, part[0], part[1], map[string][]string{"request": words}})
				}
			}
		}
		looks = append(looks, look{"timeline", part[0], part[1], map[string][]string{"critical": {"true"}}})
	}
	show := func(x look) string {
		v := Views[slices.IndexFunc(Views, func(v *view.View) bool { return v.Name == x.view })]
		c := viewtest.Case{Spec: view.Spec{From: x.from, To: x.to}, Options: x.options, Size: scene.Size{Width: 1000, Height: 700}}
		r, err := v.Compute(t.Context(), c.Request(t, v, m))
		if err != nil {
			return err.Error()
		}
		b, err := json.Marshal([]any{r.Data(), r.Notes(), r.Table(), r.Scene(c.Size)})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := make([]string, len(looks))
	for i, x := range looks {
		want[i] = show(x)
	}
	if m.wholly.Load() == 0 {
		t.Fatal("nothing is kept yet, but not all spans are read")
	}
	if err := requests.OverviewOfRun.Prepare(t.Context(), &view.Run{Store: m}); err != nil {
		t.Fatal(err)
	}
	m.wholly.Store(0)
	for i, x := range looks {
		if got := show(x); got != want[i] {
			t.Errorf("%v: %.400s\nwant %.400s", x, got, want[i])
		}
	}
	if n := m.wholly.Load(); n > 0 {
		t.Errorf("all spans were read %d times", n)
	}
	most := viewtest.Case{Spec: view.Spec{To: "90%"}}
	q := most.Request(t, Views[slices.IndexFunc(Views, func(v *view.View) bool { return v.Name == "services" })], m)
	q.Runs[0].Cache = derived.NewCache(memory.New(1 << 30))
	for range 2 { // once for all further parts
		if _, _, err := requests.Of(t.Context(), &q.Runs[0], q.Selection.Begin, q.Selection.End, nil); err != nil {
			t.Fatal(err)
		}
	}
	q.Selection.Begin, q.Selection.End = 0, q.Selection.End/100
	if _, _, err := requests.Of(t.Context(), &q.Runs[0], q.Selection.Begin, q.Selection.End, nil); err != nil || m.wholly.Load() != 1 {
		t.Errorf("most of the time was looked at, then parts of it: all spans were read %d times, %v", m.wholly.Load(), err)
	}
}

// What lies with a store and is not what was put there is not believed.
func TestKeptRequestsThatAreDamagedAreFoundAnew(t *testing.T) {
	m := openShop(t)
	if err := requests.OverviewOfRun.Prepare(t.Context(), &view.Run{Store: m}); err != nil {
		t.Fatal(err)
	}
	good, ok := m.Kept("requests")
	if !ok {
		t.Fatal("nothing is kept")
	}
	v := Views[slices.IndexFunc(Views, func(v *view.View) bool { return v.Name == "criticalpath" })]
	c := viewtest.Case{Size: scene.Size{Width: 1000, Height: 700}}
	for i := range 60 {
		bad := slices.Clone(good)
		bad[(i*7919+13)%len(bad)] ^= byte(1 + i*37)
		if i == 0 {
			bad = bad[:len(bad)/2]
		}
		if err := m.Keep("requests", bad); err != nil {
			t.Fatal(err)
		}
		if x, err := v.Compute(t.Context(), c.Request(t, v, m)); err != nil {
			t.Errorf("damage %d: %v", i, err)
		} else {
			x.Scene(c.Size)
		}
	}
}
