package load

import (
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// watch reports the progress of an import until stopped.
func (l *Loader) watch(label string, p *importer.Progress) (stop func()) {
	if l.Progress == nil || p.Total == 0 {
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
				l.Progress(label, p.Done(), p.Total)
				l.Progress(label, 0, 0)
				return
			case <-tick.C:
				l.Progress(label, p.Done(), p.Total)
			}
		}
	}()
	return func() { close(quit); <-done }
}
