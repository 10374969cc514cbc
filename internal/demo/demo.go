// Package demo makes traces with known problems: small simulations of parallel programs with faults put in on
// purpose. They show the abilities of the tool when no data is at hand, they are test inputs with known answers,
// and at any size they are the load of benchmarks.
//
// A demo is a value in the list Demos; adding one is one file and one line. It writes to any trace.Writer: a store,
// or a file of another tool's format (see Generate). Waits follow from a simulation of the messages, never from
// invented numbers. Such a demo simulates twice: a first pass over all ranks computes when messages arrive and
// collectives end, and keeps only that. Then every rank replays its own program with these times, so that ranks are
// written in parallel and no written record is kept.
//
// Same arguments, same trace: the generator is our own and time is an integer.
package demo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Demo is a trace that can be made.
type Demo struct {
	Name, Title string
	// Truth lists the facts that a correct tool must show for the options below.
	Truth []string
	// Options are the defaults.
	Options Options
	// Write makes the trace. Options that are zero are the demo's defaults.
	Write func(ctx context.Context, o Options, w trace.Writer) error

	// truth words the truth for other options than the defaults.
	truth func(Options) []string
}

// Options are the size of a demo and its variants; zero means the demo's default.
type Options struct {
	// Locations is the number of ranks, GPUs or processes.
	Locations int
	// Intervals is the number of intervals that are wanted in all. Demos that simulate a
	// program make the nearest number of whole iterations, at least one.
	Intervals int64
	// Balanced leaves the faults out.
	Balanced bool
	Seed     uint64
	// Fault is the problem of a training job, in place of its own; "": its own. See TrainingFaults.
	Fault string

	// workers bounds how many goroutines write; 0 is one a core.
	workers int
}

// Demos are all there are, in the order in which they are listed for people.
var Demos = []*Demo{
	stencilDemo,
	trainingDemo,
	loaderDemo,
	launchDemo,
	shopDemo,
	uniformDemo,
	fig2Demo,
	fig4Demo,
	fig5Demo,
	fig6Demo,
	millionDemo,
	g5k188Demo,
	g5k433Demo,
	sweep3dDemo,
	s3dDemo,
	zgrdDemo,
	quicksortDemo,
	pascalDemo,
	semigroupDemo,
}

// Find returns the demo of that name. Options may follow a question mark, joined by "&": balanced, locations=N,
// intervals=N, seed=N, and for training fault=NAME. They become its defaults.
func Find(name string) (*Demo, bool) {
	base, query, asked := strings.Cut(name, "?")
	for _, d := range Demos {
		if d.Name != base {
			continue
		}
		if !asked {
			return d, true
		}
		o, ok := parseOptions(query)
		if !ok || o.Fault != "" && d != trainingDemo {
			return nil, false
		}
		return d.with(o), true
	}
	return nil, false
}

// with returns the demo with other defaults.
func (d *Demo) with(o Options) *Demo {
	c := *d
	c.Options = o.or(d.Options)
	if d.truth != nil {
		c.Truth = d.truth(c.Options)
	}
	c.Write = func(ctx context.Context, o Options, w trace.Writer) error {
		return d.Write(ctx, o.or(c.Options), w)
	}
	return &c
}

func parseOptions(query string) (o Options, ok bool) {
	for _, part := range strings.Split(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case key == "balanced" && (value == "" || value == "true"):
			o.Balanced = true
		case key == "fault":
			if _, ok := faultOf(value); !ok {
				return o, false
			}
			o.Fault = value
		case err != nil || n <= 0:
			return o, false
		case key == "locations" && n <= 1<<30:
			o.Locations = int(n)
		case key == "intervals":
			o.Intervals = n
		case key == "seed":
			o.Seed = uint64(n)
		default:
			return o, false
		}
	}
	return o, true
}

// or fills zero fields from d.
func (o Options) or(d Options) Options {
	if o.Locations <= 0 {
		o.Locations = d.Locations
	}
	if o.Intervals <= 0 {
		o.Intervals = d.Intervals
	}
	if o.Seed == 0 {
		o.Seed = d.Seed
	}
	if o.Fault == "" {
		o.Fault = d.Fault
	}
	o.Balanced = o.Balanced || d.Balanced
	return o
}

// maxSimulated bounds the demos that simulate: the times kept between the two passes grow with the run, by a
// quarter of a byte for each interval.
const maxSimulated = 4_000_000_000

func (o Options) checkSimulated() error {
	if o.Intervals > maxSimulated {
		return fmt.Errorf("%d intervals are too many to simulate; ask for at most %d, or for demo uniform", o.Intervals,
			int64(maxSimulated))
	}
	return nil
}

// each calls f for 0 … n-1 on several goroutines, low numbers first; with one
// worker in order. It stops at the first error or when ctx ends.
func (o Options) each(ctx context.Context, n int, f func(context.Context, int) error) error {
	workers := o.workers
	if workers <= 0 {
		workers = parallel.Workers()
	}
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range min(workers, n) {
		g.Go(func() error {
			for i := range next {
				if err := f(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
