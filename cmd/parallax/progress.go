package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A progressBar is one line on a terminal, redrawn in place and wiped at the end.
type progressBar struct {
	mu sync.Mutex
	w  io.Writer
}

func newProgressBar(w io.Writer) *progressBar { return &progressBar{w: w} }

// show draws the bar; a total of 0 wipes it.
func (p *progressBar) show(label string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if total <= 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
		return
	}
	share := min(float64(done)/float64(total), 1)
	n := int(share * 30)
	fmt.Fprintf(p.w, "\r\x1b[Kimporting %s [%s%s] %3.0f %%", label, strings.Repeat("=", n), strings.Repeat(" ", 30-n), share*100)
	if share == 1 {
		fmt.Fprint(p.w, " sorting and indexing")
	}
}

// watch reports the progress of an import until stopped.
func (l *loader) watch(label string, p *importer.Progress) (stop func()) {
	if l.progress == nil || p.Total == 0 {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				l.progress(label, 0, 0)
				return
			case <-tick.C:
				l.progress(label, p.Done(), p.Total)
			}
		}
	}()
	return func() { close(quit); <-done }
}
