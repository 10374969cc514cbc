// Package perfetto imports traces in the protocol buffers of Perfetto, as its SDK,
// Android, Chrome and the recorders of ROCm (rocprofiler-systems, rocprofv3, before
// Omnitrace) write them. Described in google/perfetto, protos/perfetto/trace.
//
// A file is a list of packets. Each belongs to a sequence, whose packets share
// interned names, defaults and clocks until the sequence clears them.
//
//	process, thread         location; below a machine where packets name one
//	track of a program      location (track) below its parent; those of one name below one parent are one
//	                        location, where they overlap in lanes. Queues of GPUs are streams
//	slice                   interval; an end closes the innermost begin of its own sequence and track, and
//	                        the rest is matched by time at the end of the file
//	state                   interval until the next state of its track
//	instant                 instant
//	counter                 counter of the thread or process above its track; differences are added up
//	flow                    flow links from event to event; from a thread to a queue of a GPU: spawn links
//	annotation              attribute; entries of dictionaries and lists become attributes "key.entry", "key[0]"
//	log, source, stack      attributes
//	sched_switch            interval on the CPU's own location, named by the task; idle while it has none
//	print of atrace         slice, instant or counter of the thread, the process or a track below it
//	slices of sampling       a location of kind samples, which counts nowhere
//	sample of perf          instant of the thread, named by the function, with its stack
//	GPU render stage        interval on the queue, below the GPU
//	GPU counter             counter of the GPU; a value is of the time before it, up to the value before
//
// Times are given in the trace's own clock (that of the first snapshot, else the
// boot clock) by the last snapshot before them. Several files, one a rank, are put
// on one axis by the time of day; files whose clocks agree to a millisecond are
// taken for one machine and share an offset. Ranks come from the names of files,
// else of processes: the format has no word for them.
//
// Events of the older form (legacy_event, with Chrome's phases) are read; so are
// compressed packets (zlib and zstd).
//
// Limits: typed arguments of Chrome and extensions, events of the kernel other
// than switches of tasks and prints, GPU counters whose descriptions are
// interned, heap profiles and whatever else Android records are counted and left
// out. Descriptions of tracks may follow events, but only 65,536 records wait for
// them; later ones are put at the top, and counted. The longest packet is 256
// MiB.
package perfetto

import (
	"context"
	"fmt"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the trace of Perfetto.
var Format = &importer.Format{
	Name:   "perfetto",
	Title:  "Perfetto traces (Android, Chrome, ROCm; protobuf)",
	Claim:  claim,
	Import: read,
}

// A file is one of a run, and how it is read.
type file struct {
	head
	shift   int64 // added to all times
	err     error
	entries []trace.ReportEntry
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	files := make([]file, len(run.Files))
	heads := make([]head, len(run.Files))
	for i, p := range run.Files {
		heads[i] = readHead(p, run.Source.Head(p))
	}
	ranked := len(heads) > 1 && number(heads)
	for i := range files {
		files[i].head = heads[i]
	}
	if ranked {
		w.Report(trace.Guessed, "ranks taken from the names of files", int64(len(files)), run.Label(run.Files[0]))
	}
	axis(run, files, w)
	if len(files) > 1 {
		trace.SortRegions(w)
	}
	err := parallel.Tasks(ctx, len(files), func(ctx context.Context, i int) error {
		files[i].err = files[i].read(ctx, run, w, ranked)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return conclude(run, files, w)
}

// conclude reports the result of each file. One that cannot be read is left out where there are others.
func conclude(run importer.Run, files []file, w trace.Writer) error {
	sound := 0
	for i := range files {
		if files[i].err == nil {
			sound++
		}
	}
	if sound == 0 {
		return files[0].err
	}
	for i := range files {
		if err := files[i].err; err != nil {
			w.Report(trace.MissingFiles, "files that cannot be read", 1, err.Error())
		}
		for _, e := range files[i].entries {
			w.Report(e.Kind, e.What, e.Count, e.Example)
		}
	}
	return nil
}

// sameMachine is by how much the time since a machine's start may differ between
// two files of it, as their snapshots state it.
const sameMachine = int64(1e6)

// axis finds the offset of each file's times that puts all on the time of day. A file alone needs none.
func axis(run importer.Run, files []file, w trace.Writer) {
	if len(files) == 1 {
		return
	}
	for i := range files {
		if files[i].day == 0 {
			w.Report(trace.Guessed, "files that do not tell the time of day: all are taken to be of one machine",
				int64(len(files)), run.Label(files[i].path))
			for k := range files {
				files[k].shift = 0
			}
			return
		}
		files[i].shift = files[i].day - files[i].own
		for k := range i {
			if d := files[k].shift - files[i].shift; d < sameMachine && d > -sameMachine {
				files[i].shift = files[k].shift
				break
			}
		}
	}
}

func (f *file) read(ctx context.Context, run importer.Run, w trace.Writer, ranked bool) (err error) {
	label := run.Label(f.path)
	in, err := run.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	c := newConverter(w)
	c.clocks.shift, c.speaks = f.shift, f.path == run.Files[0]
	if ranked {
		c.rank = w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Key: fmt.Sprint("rank ", f.rank), Name: fmt.Sprint("rank ", f.rank), Rank: f.rank,
			Attributes: []trace.Attribute{{Key: "file", Value: trace.Text(f.path)}}})
		c.root, c.keyPrefix = c.rank, f.path+" "
	} else if len(run.Files) > 1 {
		c.root = w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: f.path,
			Name: path.Base(f.path), Rank: trace.NoRank})
	}
	if err := c.read(ctx, in, label); err != nil {
		c.rows.Close()
		return err
	}
	err = c.finish()
	f.entries = c.tally.entries(label)
	return err
}
