package parallel

import "sync"

// Piped processes a sequence of unknown length: next reads the following piece, work runs on several at a time, and
// take gets each, in order, in the calling goroutine. Pieces are used again, so memory is bounded by two for each
// worker. It ends when next or take returns false: pieces that were read and not taken are then returned in order,
// the refused one first.
func Piped[W, P any](workers int, newWorker func() W, next func(*P) bool, work func(W, *P),
	take func(*P) bool) (left []*P) {
	type piece struct {
		of   *P
		done chan struct{}
	}
	var (
		pieces = 2 * workers
		free   = make(chan *piece, pieces)
		todo   = make(chan *piece, pieces)
		order  = make(chan *piece, pieces)
		stop   = make(chan struct{})
		ended  bool
		wait   sync.WaitGroup
		caught Caught
	)
	for range pieces {
		free <- &piece{new(P), make(chan struct{}, 1)}
	}
	end := func() {
		if !ended {
			ended = true
			close(stop)
		}
	}
	defer end() // also if take panics: no goroutine may wait for it
	wait.Go(func() {
		defer close(todo)
		defer close(order)
		_ = caught.Do(func() error {
			for {
				var p *piece
				select {
				case p = <-free:
				case <-stop:
					return nil
				}
				if !next(p.of) {
					return nil
				}
				todo <- p
				order <- p
			}
		})
	})
	for range workers {
		wait.Go(func() {
			w := newWorker()
			for p := range todo {
				_ = caught.Do(func() error { work(w, p.of); return nil })
				p.done <- struct{}{}
			}
		})
	}
	for p := range order {
		<-p.done
		if ended || caught.first.Load() != nil || !take(p.of) {
			end()
			left = append(left, p.of)
			continue
		}
		free <- p
	}
	wait.Wait()
	caught.Pass()
	return left
}
