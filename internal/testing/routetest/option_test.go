package routetest

import (
	"context"
	"errors"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

// Every word that the help of an option offers is taken: by the option, and by the view.
func TestEveryWordThatAnOptionOffersIsTaken(t *testing.T) {
	x := Open(t, Shapes[0], 0)
	w := x.Windows(0, true)[0]
	for _, v := range all.Views {
		if !suits(v, x.Reader) {
			continue
		}
		for _, o := range v.Options {
			for _, word := range o.Choices {
				if v.Name == "calltree" && word == "beside" { // needs something to compare with, and says so
					continue
				}
				values, err := view.NewValues(v, map[string][]string{o.Name: {word}})
				if err != nil {
					t.Errorf("%s --%s %s: %v", v.Name, o.Name, word, err)
					continue
				}
				q := &view.Request{Runs: []view.Run{{Name: "test", Source: "test.trace", Store: x.Reader}}, Selection: w.Selection, Values: values, Size: scene.Size{Width: 400, Height: 300}}
				var empty *view.EmptyError
				if _, err := v.Compute(context.Background(), q); err != nil && !errors.As(err, &empty) {
					t.Errorf("%s --%s %s: %v", v.Name, o.Name, word, err)
				}
			}
		}
	}
}
