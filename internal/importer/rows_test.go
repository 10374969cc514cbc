package importer

import (
	"errors"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type opened struct {
	trace.Writer
	closed []trace.LocationID
}

type openStream struct {
	trace.Stream
	of *opened
	at trace.LocationID
}

func (o *opened) Location(l trace.Location) trace.LocationID { return trace.LocationID(l.Order) }

func (o *opened) Stream(at trace.LocationID, _ trace.StreamOptions) trace.Stream {
	return &openStream{of: o, at: at}
}

var errSecond = errors.New("the second")

func (s *openStream) Close() error {
	if s.of.closed = append(s.of.closed, s.at); s.at == 2 {
		return errSecond
	}
	return nil
}

func TestRowsAreOpenedOnceAndAllClosed(t *testing.T) {
	w := &opened{}
	rows := NewRows(w)
	first := rows.Open(trace.Location{Order: 7}, trace.StreamOptions{})
	rows.At(2, trace.StreamOptions{})
	rows.At(5, trace.StreamOptions{})
	if rows.At(7, trace.StreamOptions{}) != first || first.At != 7 {
		t.Error("a location has two rows")
	}
	if err := rows.Close(); !errors.Is(err, errSecond) {
		t.Errorf("closed with %v", err)
	}
	if !slices.Equal(w.closed, []trace.LocationID{7, 2, 5}) {
		t.Errorf("closed %v", w.closed)
	}
}
