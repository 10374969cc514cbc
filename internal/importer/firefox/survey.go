package firefox

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
)

// A survey holds the data needed before threads are read: the meta data and libraries of each process, in the order
// in which processes begin, and the tables that all threads share.
type survey struct {
	processes []process
	shared    tables
	threads   int
	samples   int
}

// wrapped is where the developer tools of Firefox before version 89 saved a Gecko profile, next to the lists of their
// own that they drew.
const wrapped = "profile"

// A process is a profile in the file.
type process struct {
	meta      meta
	libraries []library
}

func (s *survey) read(r *jsonstream.Reader) error {
	at := len(s.processes)
	s.processes = append(s.processes, process{})
	var libraries []library
	var member func(name string) error
	member = func(name string) (err error) {
		switch name {
		case wrapped:
			err = r.Members(member)
		case "meta":
			_, err = r.Take(func(c *jsonstream.Cursor) { s.processes[at].meta.read(c) })
		case "libs":
			libraries, err = readLibraries(r)
		case "shared":
			err = r.Members(func(name string) error { return s.shared.member(r, name) })
		case "threads":
			err = r.Array(func() error { s.threads++; return s.countSamples(r) })
		case "processes":
			err = r.Array(func() error { return s.read(r) })
		default:
			err = r.Skip()
		}
		return err
	}
	err := r.Members(member)
	libraries = slices.DeleteFunc(libraries, func(l library) bool { return !(l.end > l.start) })
	slices.SortFunc(libraries, func(a, b library) int { return cmp.Compare(a.start, b.start) })
	s.processes[at].libraries = libraries
	return err
}

// countSamples counts the samples of a thread, roughly: it matters only whether there are any.
func (s *survey) countSamples(r *jsonstream.Reader) error {
	return r.Members(func(name string) error {
		if name != "samples" {
			return r.Skip()
		}
		return r.Members(func(name string) error {
			if name != "stack" && name != "data" {
				return r.Skip()
			}
			return r.Array(func() error { s.samples++; return r.Skip() })
		})
	})
}
