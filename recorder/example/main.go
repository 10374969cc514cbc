// Command example records itself: eight workers share work that is dealt out badly, and the file shows which were
// busy when. Run it, then `parallax open FILE`.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/recorder"
)

func main() {
	file := flag.String("o", "run.moments", "where to write")
	seconds := flag.Float64("seconds", 1, "how long to run, about")
	flag.Parse()

	set := recorder.New(recorder.Options{Name: "example"})
	var group sync.WaitGroup
	for k := range 8 {
		w := set.Worker(fmt.Sprint("worker ", k))
		group.Go(func() { run(w, k, time.Duration(*seconds*float64(time.Second))) })
	}
	group.Wait()
	if err := set.WriteFile(*file); err != nil {
		log.Fatal(err)
	}
	fmt.Println("wrote", *file)
}

// run works in steps. Worker 5 gets twice as much in each; workers 6 and 7 have
// nothing left to do in the second half.
func run(w *recorder.Worker, k int, length time.Duration) {
	const steps = 50
	step := length / steps
	for i := range steps {
		next := time.Now().Add(step)
		work := step / 4
		switch {
		case k == 5:
			work = step / 2
		case k >= 6 && i >= steps/2:
			work = 0
		}
		if work > 0 {
			w.Begin()
			spin(work)
			w.End()
		}
		time.Sleep(time.Until(next))
	}
}

// spin keeps a core busy.
func spin(d time.Duration) {
	x := 1.0
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 100 {
			x = math.Sqrt(x + 1)
		}
	}
}
