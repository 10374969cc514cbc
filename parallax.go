// Package parallax opens recordings of parallel programs and answers questions about them: for programs that want
// the answers of the command parallax.
//
//	run, err := parallax.Open(ctx, "run.otf2")
//	rows, err := run.Query(ctx, "select region, sum(exclusive) from time_in() group by 1")
//	picture, err := run.View(ctx, "timeline", parallax.Request{})
//
// A source is all that the command takes: a file or directory of any format that it reads, an archive, a store, a
// directory of exported tables, or demo:NAME. Imported runs are kept in the same cache. Names of tables, columns
// and views and the fields of JSON are the contract that docs/tables.md, docs/views.md and docs/schemas write down.
package parallax

import (
	"context"
	"fmt"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/export"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

// Options say how sources are opened. The zero value opens as the command without flags.
type Options struct {
	// Name of the run, as queries over several runs call it; "": that of the source.
	Name string
	// Cache is the directory of imported runs; "": $PARALLAX_CACHE, else the user's.
	Cache string
	// Memory bounds the memory of an import, in bytes; 0: 1 GiB.
	Memory int64
	// Format to read the source as; "": found out.
	Format string
	// Align selects how clocks that disagree are fitted: auto, none, or by messages or collectives alone; "": auto.
	Align string
	// Join makes one run of several that the sources hold.
	Join bool
	// Progress is called now and then while files are imported; may be nil.
	Progress func(source string, done, total int64)
}

const usualMemory = 1 << 30

// A Run is an open recording. Any number of goroutines may ask it at the same time.
type Run struct{ run view.Run }

// Open opens sources that are one run. Close it when done.
func Open(ctx context.Context, sources ...string) (*Run, error) {
	return Options{}.Open(ctx, sources...)
}

// Open is the function Open with options.
func (o Options) Open(ctx context.Context, sources ...string) (*Run, error) {
	l, err := o.loader()
	if err != nil {
		return nil, fmt.Errorf("parallax: %w", err)
	}
	r, err := l.One(ctx, sources)
	if err != nil {
		return nil, fmt.Errorf("parallax: %w", err)
	}
	if o.Name != "" {
		r.Name = o.Name
	}
	return &Run{r}, nil
}

// OpenAll opens every run that the sources hold. If some cannot be opened, those that can come with the error.
func (o Options) OpenAll(ctx context.Context, sources ...string) ([]*Run, error) {
	l, err := o.loader()
	if err != nil {
		return nil, fmt.Errorf("parallax: %w", err)
	}
	found, err := l.All(ctx, sources)
	if err != nil {
		err = fmt.Errorf("parallax: %w", err)
	}
	runs := make([]*Run, len(found))
	for i := range found {
		runs[i] = &Run{found[i]}
	}
	return runs, err
}

func (o Options) loader() (*load.Loader, error) {
	switch o.Align {
	case "", "auto", "none", "messages", "collectives":
	default:
		return nil, fmt.Errorf("align %q: want auto, none, messages or collectives", o.Align)
	}
	if o.Memory <= 0 {
		o.Memory = usualMemory
	}
	cache, err := load.OpenCache(o.Cache)
	if err != nil {
		return nil, err
	}
	l := &load.Loader{Formats: formats.Formats, Summaries: all.Summaries, Digests: all.Digests,
		AtImport: append(views.AtImport(), all.AtImport...), Cache: cache, Memory: o.Memory,
		Budget: memory.New(8 * o.Memory), Format: o.Format, Align: o.Align, Join: o.Join, Progress: o.Progress}
	if o.Format != "" && l.FindFormat(o.Format) == nil {
		return nil, fmt.Errorf("no format %q", o.Format)
	}
	return l, nil
}

// Close ends the use of a run. Nothing may be asked of it from then on.
func (r *Run) Close() error { return r.run.Store.Close() }

// Info holds the facts of a run.
type Info struct {
	Name, Source, Format string
	Length               time.Duration
	Locations, Ranks     int // nodes of the tree, ranks among them
	Regions, Counters    int
	Intervals, Links     int64
	Samples, Instants    int64
	ProfileRows          int64
	Properties           map[string]string // as the source gives them
	Report               []Report          // repairs, guesses and omissions of the import
}

// A Report is something that a reader could not take as it is, and how often.
type Report struct {
	Kind, What string
	Count      int64
	Example    string
}

// Info returns the facts of the run.
func (r *Run) Info() Info {
	i := r.run.Store.Info()
	out := Info{Name: r.run.Name, Source: r.run.Source, Format: i.Format, Length: time.Duration(i.End),
		Locations: r.run.Store.Locations().Len(), Ranks: i.Ranks,
		Regions: len(r.run.Store.Regions()), Counters: len(r.run.Store.Counters()), Intervals: i.Intervals,
		Links: i.Links, Samples: i.Samples, Instants: i.Instants,
		ProfileRows: i.Profile, Properties: map[string]string{}, Report: []Report{}}
	for k, v := range i.Properties {
		out.Properties[k] = v
	}
	for _, e := range i.Report {
		out.Report = append(out.Report, Report{e.Kind.String(), e.What, e.Count, e.Example})
	}
	return out
}

// Export writes the run as Parquet files into a directory that must not exist, one file per table.
func (r *Run) Export(ctx context.Context, dir string) error {
	_, err := export.Run(ctx, dir, r.asTables(), table.Tables, nil)
	return err
}

func (r *Run) asTables() *table.Run {
	return &table.Run{Name: r.run.Name, Source: r.run.Source, Store: r.run.Store}
}
