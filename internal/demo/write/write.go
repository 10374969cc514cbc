// Package write turns a trace into files that other tools read, and that our own
// readers are tested and measured with.
//
// A format is a value in the list Formats: a name, and a function that begins a file or directory and returns a
// trace.Writer for it. Records are formatted as they come and none is kept, so that a file may be of any size.
// Definitions (locations, regions, attributes, counters, communicators, topologies) must come before the first
// stream is opened, because most formats put them in front.
//
// A format that cannot hold a record returns an error, or leaves it out and reports a count: never in silence.
package write

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Format is one kind of file that can be written.
type Format struct {
	Name  string // as in --format
	Title string // for people
	// Sequential formats write the same bytes each time only if all records come from one goroutine; the others if
	// each rank's do.
	Sequential bool
	// Create begins to write under a temporary name beside path.
	Create func(path string) (File, error)
}

// Formats are all there are.
var Formats = []*Format{Chrome, Kineto, OTF2, Paje, TAU}

// Find returns the format of that name, or an error that lists them.
func Find(name string) (*Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("unknown format %q; there are %s", name, strings.Join(names, ", "))
}

// A File is being written. Either Commit or Abort ends it.
type File interface {
	trace.Writer
	// Commit completes the files and gives them their name. If it fails everything is removed, as by Abort.
	Commit() error
	// Left lists the records that the format has no place for.
	Left() []trace.ReportEntry
	// Abort removes everything.
	Abort()
}
