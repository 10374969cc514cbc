package store

import "sync/atomic"

// A Noter is a reader that says which damage it met in calls that give no error, such as
// Count, Interval, At and IntervalAttributes: these answer with nothing, or less.
type Noter interface {
	// Unsaid returns how often it met damage, and the last error.
	Unsaid() (times int64, last error)
}

// Watch begins to look for damage that calls without an error meet; check returns it. Concurrent callers of the same
// reader get the error too: a missing answer is better than a wrong one.
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

// Unheard records an error that its caller cannot return, so that watchers of the reader learn of it.
func Unheard(r Reader, err error) {
	if n, ok := r.(interface{ Unheard(error) }); ok && err != nil {
		n.Unheard(err)
	}
}

// Notes records the damage for a Noter.
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
