package activity

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Kinds of rows in traces that tell the same time from two sides: what each
// processor ran, and what each of any number of goroutines did.
const (
	kindProcessor trace.Kind = "processor"
	kindGoroutine trace.Kind = "goroutine"
)

// oneSide gives the processors of a trace that holds goroutines too, and a note
// that says so; nil for others. Processors are there all the time, so that their
// share is the machine's. Most goroutines live for a small part of a trace and are
// nothing before and after: over all of them even a machine at full load looks idle.
func oneSide(t *store.Tree) ([]trace.LocationID, string) {
	var processors []trace.LocationID
	goroutines := 0
	for id, holds := range t.Holds {
		switch {
		case holds && t.Kind[id] == kindProcessor:
			processors = append(processors, trace.LocationID(id))
		case holds && t.Kind[id] == kindGoroutine:
			goroutines++
		}
	}
	if len(processors) == 0 || goroutines == 0 {
		return nil, ""
	}
	return processors, fmt.Sprintf("shares are of the %d processors alone, since goroutines tell the same time from their side; "+
		"choose locations to see any of the %d goroutines", len(processors), goroutines)
}
