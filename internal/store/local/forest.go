package local

import (
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A forestView is the nodes of one lane.
type forestView struct {
	first, levels int // rows of table level
}

func (r *Reader) forest(n int) forestView {
	a, b := r.c.laneForest[n], r.c.laneForest[n+1]
	return forestView{int(a), int(b - a)}
}

func (c *coverer) descend() error { return nil }

// An openSection is the blocks of one summary.
type openSection struct {
	summary trace.Summary
}

func (s *openSection) close() error { return nil }

func (r *Reader) openSections(summaries []trace.Summary) error {
	r.sections = map[string]*openSection{}
	for _, s := range summaries {
		r.sections[s.Name()] = &openSection{summary: s}
	}
	return nil
}
