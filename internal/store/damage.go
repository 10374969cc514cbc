package store

import "sync/atomic"

// A Noter is a reader that says which damage it met in calls that give no error, such as
// Count, Interval, At and IntervalAttributes: these answer with nothing, or less.
type Noter interface {
	// Unsaid is how often that was, and what it was the last time.
	Unsaid() (times int64, last error)
}

// Watch begins to look for damage that calls without an error meet; check gives it. Who
// asks the same reader at the same time is told of it too: an answer too few is better
// than a wrong one.
func Watch(readers ...Reader) (check func() error) {
	type noted struct {
		Noter
		times int64
	}
	var all []noted
	for _, r := range readers {
		if n, ok := r.(Noter); ok {
			times, _ := n.Unsaid()
			all = append(all, noted{n, times})
		}
	}
	return func() error {
		for _, n := range all {
			if times, last := n.Unsaid(); times != n.times {
				return last
			}
		}
		return nil
	}
}

// Unheard writes an error down that its caller cannot give on, so that whoever watches the reader learns of it.
func Unheard(r Reader, err error) {
	if n, ok := r.(interface{ Unheard(error) }); ok && err != nil {
		n.Unheard(err)
	}
}

// Notes is what a Noter writes down.
type Notes struct {
	times atomic.Int64
	last  atomic.Pointer[error]
}

// Note writes damage down.
func (n *Notes) Note(err error) {
	n.last.Store(&err)
	n.times.Add(1)
}

// Unsaid implements Noter.
func (n *Notes) Unsaid() (times int64, last error) {
	times = n.times.Load()
	if p := n.last.Load(); p != nil {
		last = *p
	}
	return times, last
}
