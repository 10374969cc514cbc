package match

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Sharer is a trace.Writer of one part of a run whose reader reads only the files of that part. It keeps halves
// until all parts are read.
type Sharer interface {
	// Share returns the part, counted from 1, and the number of parts; of is 0 where the run is read as a whole.
	Share() (part, of int)
	// Halves takes ends of links: causes, side 0, or effects, side 1. Several goroutines may call it.
	Halves(side int, list []Half)
	// Attend takes the parts of processes in collective operations.
	Attend(list []Participation)
	// Tell takes what the parts need to join their halves, when all files were read. What is reported later is the same
	// in all parts.
	Tell(Facts)
}

// ShareOf returns the writer as a Sharer; nil where the run is read as a whole.
func ShareOf(w trace.Writer) Sharer {
	if s, ok := w.(Sharer); ok {
		if _, of := s.Share(); of > 0 {
			return s
		}
	}
	return nil
}

// Own returns which of a list of files a part reads: those of a range of about the same size as that of any other part.
func Own(sizes []int64, part, of int) (first, end int) {
	var all int64
	for _, n := range sizes {
		all += n + 1
	}
	place := func(before, size int64) int { // the part of a file, by its middle
		return min(int((float64(before)+float64(size+1)/2)/float64(all)*float64(of)), of-1) + 1
	}
	first, end = -1, len(sizes)
	var before int64
	for i, n := range sizes {
		at := place(before, n)
		if at >= part && first < 0 {
			first = i
		}
		if at > part {
			end = i
			break
		}
		before += n + 1
	}
	if first < 0 {
		first = len(sizes)
	}
	return first, max(first, end)
}

// Facts are what a part of a run tells the others beside its halves.
type Facts struct {
	// Places, Processes and Communicators are what the numbers in halves and participations stand for; they are the
	// same in all parts.
	Places, Processes []trace.LocationID
	Communicators     []trace.CommunicatorID
	Incomplete        []int32 // processes whose receives are incomplete

	// Alone are the report lines on halves without the other, for causes and effects; Unsure is on those of which that
	// is not known. The first part's are taken.
	Alone   [Kinds][2]string
	Unsure  string
	Example string

	// Lines are counts of all parts, in the order of Index and What. The example is that of the first place.
	Lines []Line
	// Sums are properties that are numbers, to be added up.
	Sums map[string]int64
	// First are properties of which that of the first place counts; Place is -1 where there is none.
	First []First

	// Told is what the format needs of all parts at the end, see Fields.
	Told []byte
}

// A Told is what a part told. Numbers of what the part has defined are its own.
type Told struct {
	Data []byte
	IDs  IDs
}

// IDs give the numbers of a run for those of one of its parts.
type IDs interface {
	Location(trace.LocationID) trace.LocationID
	CallPath(trace.CallPathID) trace.CallPathID
	Metric(trace.MetricID) trace.MetricID
}

// A Line is a line of the import report, from one part.
type Line struct {
	Index, At int
	trace.ReportEntry
}

// A First is properties from one place.
type First struct {
	Place      int
	Properties map[string]string
}

// MergeLines adds up the lines of several parts.
func MergeLines(all [][]Line) []Line {
	var out []Line
	at := map[string]int{}
	for _, list := range all {
		for _, l := range list {
			i, known := at[l.What]
			if !known {
				at[l.What] = len(out)
				out = append(out, l)
				continue
			}
			count := out[i].Count + l.Count
			if l.At < out[i].At {
				out[i] = l
			}
			out[i].Count = count
		}
	}
	slices.SortStableFunc(out, func(a, b Line) int {
		if a.Index != b.Index {
			return a.Index - b.Index
		}
		if a.What < b.What {
			return -1
		} else if a.What > b.What {
			return 1
		}
		return 0
	})
	return out
}

// PartOf returns the part, counted from 0, that joins the halves of a key.
func (h *Half) PartOf(of int) int { return int(h.Hash % uint64(of)) }

// PartOf returns the part that joins the participations in an operation.
func (p *Participation) PartOf(of int) int {
	h := Key{A: p.Comm, B: p.Seq}
	return int(h.Mixed() % uint64(of))
}

// Region is where a half lies.
func (h *Half) Region() trace.RegionID { return h.region }

// Renumber gives the region of a half another number.
func (h *Half) Renumber(to trace.RegionID) { h.region = to }

// Link fills a link of a pair.
func (f *Facts) Link(l *trace.Link, p *Pair) {
	l.Kind, l.Size, l.Tag, l.Communicator = Links[p.Key.Kind], p.Size, int64(p.Key.D), trace.NoCommunicator
	if p.Key.Kind == Message {
		l.Tag = int64(int32(p.Key.D))
		l.Communicator = f.Communicators[p.Key.A]
	}
	f.end(&p.Cause, &l.From)
	f.end(&p.Effect, &l.To)
}

// end fills every field by itself: a value that is made and then copied takes longer.
func (f *Facts) end(e *End, to *trace.End) {
	to.Location, to.Time, to.Region, to.Number = f.Places[e.At], e.Time, e.Call.Region, e.Call.Number
}
