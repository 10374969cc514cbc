package storetest

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestTheReferencePassesItsOwnSuite(t *testing.T) {
	Run(t, func(t *testing.T, fill func(trace.Writer), summaries []trace.Summary) store.Reader {
		m := NewMemory(summaries...)
		fill(m)
		return m.Reader()
	})
}
