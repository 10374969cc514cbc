package view

import (
	"reflect"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
)

var (
	readerType = reflect.TypeFor[store.Reader]()
	cacheType  = reflect.TypeFor[*derived.Cache]()
	viewType   = reflect.TypeFor[*View]()
)

// HeldBy returns the number of bytes a result holds next to its runs, and the memory that it
// shares with the caches of these: that is counted there, and when it goes, the result
// must go too.
func HeldBy(q *Request, r Result) (bytes int64, on []*memory.Held) {
	s := memory.Sizer{
		Shared: map[uintptr]*memory.Held{},
		Stop: func(t reflect.Type) bool {
			return t == cacheType || t == viewType || t.Implements(readerType)
		},
	}
	for _, run := range q.Runs {
		if run.Store != nil {
			s.Ignore(run.Store.Locations(), run.Store.Regions(), run.Store.Counters())
		}
		run.Cache.Shared(func(at uintptr, h *memory.Held) { s.Shared[at] = h })
	}
	bytes = s.Of(r)
	return bytes, s.Found
}

// A Lister is a result that knows how many rows its table has before it makes it: the
// caller can tell whether there is memory for them. One that does not is taken to be
// written out at some times its own size.
type Lister interface{ Rows() int }

// rowBytes is about the size of a row of a table while it is made.
const rowBytes = 640

// ToList is about how many bytes making the table of a result takes, which writes out the
// content that the result holds in short; held is how many that are.
func ToList(r Result, held int64) int64 {
	if l, ok := r.(Lister); ok {
		return int64(l.Rows()) * rowBytes
	}
	return 4 * held
}

// ToStream is ToList of the JSON output as it is written, which is never one text.
func ToStream(r Result, held int64) int64 { return ToList(r, held) / 2 }

// ToTell is ToList of the JSON output as one text, which is copied as it grows.
func ToTell(r Result, held int64) int64 {
	if l, ok := r.(Lister); ok {
		return int64(l.Rows()) * rowBytes * 2
	}
	return 6 * held
}
