package trace

import (
	"cmp"
	"slices"
)

// A Sorter takes records in any order and yields them sorted: by CompareEvents
// or CompareSpans, which know no equal ones. A store implements it outside memory.
type Sorter[T any] interface {
	Add(T) error
	Each(func(T) error) error
}

// CompareEvents orders events by time, then by arrival.
func CompareEvents(a, b Event) int {
	if a.Time != b.Time {
		return cmp.Compare(a.Time, b.Time)
	}
	return cmp.Compare(a.Order, b.Order)
}

// CompareSpans orders spans by begin, the longer first, then by arrival.
func CompareSpans(a, b Span) int {
	if a.Begin != b.Begin {
		return cmp.Compare(a.Begin, b.Begin)
	}
	if a.End != b.End {
		return cmp.Compare(b.End, a.End)
	}
	return cmp.Compare(a.Seq, b.Seq)
}

type eventSorter struct{ events []Event }

func (s *eventSorter) Add(e Event) error { s.events = append(s.events, e); return nil }

func (s *eventSorter) Each(f func(Event) error) error {
	slices.SortFunc(s.events, CompareEvents)
	return each(s.events, f)
}

type spanSorter struct{ spans []Span }

func (s *spanSorter) Add(x Span) error { s.spans = append(s.spans, x); return nil }

func (s *spanSorter) Each(f func(Span) error) error {
	slices.SortFunc(s.spans, CompareSpans)
	return each(s.spans, f)
}

func each[T any](items []T, f func(T) error) error {
	for _, x := range items {
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}
