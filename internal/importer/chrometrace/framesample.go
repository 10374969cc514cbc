package chrometrace

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A frameSample is a stack sample that names its innermost frame, as Hermes writes them. Frames are told in the member
// stackFrames, mostly behind the samples.
type frameSample struct {
	place  *place
	at     trace.Time
	frame  int32 // in reader.frameIDs
	weight float64
}

// sampleOfFrame takes a sample whose stack is a frame.
func (x *sampler) sampleOfFrame(r *record) {
	at, ok := x.time(r.ts)
	if !ok || !r.frame.present() || r.frame.kind == composite {
		x.tally.Add(samples, r.offset)
		return
	}
	if x.frameIDs == nil {
		x.frameIDs = map[string]int32{}
	}
	id, known := x.frameIDs[string(r.frame.raw())]
	if !known {
		id = int32(len(x.frameIDs))
		x.frameIDs[string(r.frame.raw())] = id
	}
	weight, ok := r.weight.float()
	if !ok || !(weight >= 0) {
		weight = 1
	}
	x.latest = max(x.latest, at)
	x.frameSamples = append(x.frameSamples, frameSample{x.placeOfSample(r), at, id, weight})
}

// placeOfSample is the thread of a sample. Some writers leave out the process: then it is the one that has this thread.
func (x *sampler) placeOfSample(r *record) *place {
	p := x.place(r)
	if p.pid != "" || p.cpu != nil {
		return p
	}
	var found *place
	for _, other := range x.places {
		if other.tid == p.tid && other.pid != "" {
			if found != nil {
				return p
			}
			found = other
		}
	}
	return cmp.Or(found, p)
}

// A frame is a function and the frame that called it.
type frame struct {
	region trace.RegionID
	parent string
}

// framesOf reads the member stackFrames.
func (x *sampler) framesOf(raw []byte) map[string]frame {
	frames := map[string]frame{}
	var cursor jsonstream.Cursor
	cursor.Reset(raw)
	for ok := cursor.Open('{'); ok && cursor.More('}'); {
		id := string(cursor.Key())
		var f frame
		r := trace.Region{}
		for ok := cursor.Open('{'); ok && cursor.More('}'); {
			switch string(cursor.Key()) {
			case "name":
				r.Name = cursor.Text()
			case "category":
				r.Category = cursor.Text()
			case "parent":
				f.parent = cursor.Scalar().String()
			}
		}
		r.Name = cmp.Or(r.Name, "(anonymous)")
		f.region = x.w.Region(r)
		frames[id] = f
	}
	return frames
}

// showFrames writes the samples of a file: by their weight, and over time on a row aside.
func (x *sampler) showFrames(ctx context.Context, s *scanner) error {
	if len(x.frameSamples) == 0 {
		return nil
	}
	x.framesUsed = true
	frames := x.framesOf(s.section("stackFrames"))
	paths := make([][]trace.RegionID, len(x.frameIDs))
	for id, i := range x.frameIDs {
		for depth := 0; depth <= len(frames); depth++ {
			f, ok := frames[id]
			if !ok {
				break
			}
			paths[i] = append(paths[i], f.region)
			id = f.parent
		}
		slices.Reverse(paths[i])
	}
	total := stack.New(x.w, trace.Metric{Name: "samples", Integer: true, Default: true})
	defer total.Finish()
	slices.SortStableFunc(x.frameSamples, func(a, b frameSample) int {
		return cmp.Or(cmp.Compare(a.place.pid, b.place.pid), cmp.Compare(a.place.tid, b.place.tid),
			cmp.Compare(a.at, b.at))
	})
	for first := 0; first < len(x.frameSamples); {
		end := first
		for end < len(x.frameSamples) && x.frameSamples[end].place == x.frameSamples[first].place {
			end++
		}
		if err := x.showThread(ctx, total, x.frameSamples[first:end], paths); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// showThread writes the samples of one thread, in order of time.
func (x *sampler) showThread(ctx context.Context, total *stack.Profile, list []frameSample,
	paths [][]trace.RegionID) error {
	thread := x.thread(list[0].place).location
	row := x.w.Location(importer.Below(thread, trace.KindSamples, "samples"))
	stream := x.w.Stream(row, trace.StreamOptions{Unordered: true})
	var open []trace.RegionID
	for i, s := range list {
		if i%4096 == 0 && ctx.Err() != nil {
			_ = stream.Close()
			return ctx.Err()
		}
		if len(paths[s.frame]) == 0 {
			x.tally.Add(lostFrames, nowhere)
		} else {
			total.Add(thread, paths[s.frame], []float64{s.weight})
		}
		open = stack.Change(stream, s.at, open, paths[s.frame])
	}
	stack.Change(stream, list[len(list)-1].at, open, nil)
	return stream.Close()
}
