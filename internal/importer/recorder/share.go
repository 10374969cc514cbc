package recorder

import (
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Several files can be read in parts. What needs all processes follows at the end, from what each part tells. A whole
// import is one part.

// An outcome is what one part of a run knows when its files are read.
type outcome struct {
	Size     int32 // ranks of the job, where they are known
	Ranks    []rankTold
	Programs []programTold // each followed by another
	Sent     []sentTold
	Late     trace.MetricID
	Arrivals []arrivalTold
}

type rankTold struct {
	Rank     int32
	Location trace.LocationID
}

type programTold struct{ Name, Outside string }

// sentTold is what a process sent to a rank.
type sentTold struct {
	From  trace.LocationID
	To    int32
	Count uint64
	Bytes uint64
}

type arrivalTold struct {
	Path  trace.CallPathID
	At    trace.LocationID
	Calls uint64
	Sum   float64
}

// shares tells whether parts of a run can be read by themselves.
func shares(run importer.Run) (why string, ok bool) {
	if len(run.Files) < 2 {
		return run.Source.Name + " has one file", false
	}
	return "", true
}

// own returns the files that are read.
func own(run importer.Run, share match.Sharer) []string {
	if share == nil {
		return run.Files
	}
	size := map[string]int64{}
	for _, f := range run.Source.Files {
		size[f.Path] = f.Size
	}
	sizes := make([]int64, len(run.Files))
	for i, file := range run.Files {
		sizes[i] = size[file]
	}
	part, of := share.Share()
	first, end := match.Own(sizes, part, of)
	return run.Files[first:end]
}

// told completes the outcome when all files are read.
func (c *converter) told() {
	c.Sent, c.Late = c.messages.sent, c.paths.late
	for path, list := range c.arrivals {
		for _, x := range list {
			c.Arrivals = append(c.Arrivals, arrivalTold{trace.CallPathID(path), x.at, x.calls, x.sum})
		}
	}
}

// concludeParts ends the input of a run that was read in parts.
func concludeParts(w trace.Writer, told []match.Told) error {
	list := make([]outcome, len(told))
	for i, t := range told {
		o := &list[i]
		if err := match.SetFields(o, t.Data); err != nil {
			return err
		}
		for k := range o.Ranks {
			o.Ranks[k].Location = t.IDs.Location(o.Ranks[k].Location)
		}
		for k := range o.Sent {
			o.Sent[k].From = t.IDs.Location(o.Sent[k].From)
		}
		for k := range o.Arrivals {
			o.Arrivals[k].At, o.Arrivals[k].Path = t.IDs.Location(o.Arrivals[k].At), t.IDs.CallPath(o.Arrivals[k].Path)
		}
		o.Late = t.IDs.Metric(o.Late)
	}
	conclude(w, list)
	return nil
}

// conclude writes the data that needs all processes.
func conclude(w trace.Writer, parts []outcome) {
	ranks, size, program := map[int32]trace.LocationID{}, int32(0), ""
	for _, o := range parts {
		size = max(size, o.Size)
		for _, r := range o.Ranks {
			ranks[r.Rank] = r.Location
		}
		for _, p := range o.Programs {
			if p.Name == program {
				continue
			}
			program = p.Name
			w.Property("program", p.Name)
			if p.Outside != "" {
				w.Property("outside named regions", p.Outside)
			}
		}
	}
	if missing := int(size) - len(ranks); missing > 0 && len(ranks) > 0 {
		w.Report(trace.MissingLocations,
			fmt.Sprintf("of %d ranks left no file (killed before they could write, or the files are elsewhere)", size),
			int64(missing), "rank "+strconv.Itoa(absent(size, ranks)))
	}
	var late arrivals
	metric := trace.MetricID(0)
	for _, o := range parts {
		link(w, o.Sent, ranks)
		for _, x := range o.Arrivals {
			late.add(x.Path, arrival{x.At, x.Calls, x.Sum})
			metric = o.Late
		}
	}
	late.write(metric, w)
}

// absent is the first rank of the job that is not here.
func absent(size int32, ranks map[int32]trace.LocationID) int {
	for rank := range size {
		if _, ok := ranks[rank]; !ok {
			return int(rank)
		}
	}
	return int(size)
}

// link writes how much went from whom to whom.
func link(w trace.Writer, sent []sentTold, ranks map[int32]trace.LocationID) {
	for _, s := range sent {
		to, ok := ranks[s.To]
		if !ok {
			w.Report(trace.MissingLinks, "messages to ranks whose file is not here", int64(s.Count),
				fmt.Sprint("rank ", s.To))
			continue
		}
		from := trace.End{Location: s.From, Region: trace.NoRegion}
		w.Link(trace.Link{Kind: trace.LinkMessage, From: from, To: trace.End{Location: to, Region: trace.NoRegion},
			Size: int64(s.Bytes), Count: int64(s.Count), Untimed: true, Communicator: trace.NoCommunicator})
	}
}
