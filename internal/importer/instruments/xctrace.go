package instruments

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func isXctrace(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 4<<10)], []byte("<trace-query-result>"))
}

// An element of a row. One that refers to another is that other.
type element struct {
	tag, format, text string
	name              string // of a frame or binary
	below             []*element
}

// find returns the first element of a tag, at any depth.
func (e *element) find(tag string) *element {
	if e.tag == tag {
		return e
	}
	for _, x := range e.below {
		if found := x.find(tag); found != nil {
			return found
		}
	}
	return nil
}

// xctrace is a document while it is read.
type xctrace struct {
	w       trace.Writer
	label   string
	decoder *xml.Decoder
	known   map[string]*element // by id
	rows    importer.Rows
	threads map[*element]*importer.Row
	regions map[*element]trace.RegionID
	out     *stack.Profile
	samples int
}

func readXctrace(ctx context.Context, in io.Reader, label string, w trace.Writer) error {
	x := &xctrace{w: w, label: label, decoder: xml.NewDecoder(in), known: map[string]*element{},
		rows: importer.NewRows(w), threads: map[*element]*importer.Row{}, regions: map[*element]trace.RegionID{},
		out: stack.New(w, trace.Metric{Name: "time", Unit: "ns", Default: true},
			trace.Metric{Name: "samples", Integer: true})}
	err := x.document(ctx)
	if failed := x.rows.Close(); err == nil {
		err = failed
	}
	x.out.Finish()
	return err
}

func (x *xctrace) document(ctx context.Context) error {
	var err error
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var token xml.Token
		if token, err = x.decoder.Token(); err != nil {
			break
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "row" {
			var row *element
			if row, err = x.element(start, 0); err != nil {
				break
			}
			x.row(row)
		}
	}
	var packed *importer.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case x.samples == 0 && errors.As(err, &packed):
		return packed
	case x.samples == 0 && err != io.EOF:
		return importer.Malformed(x.label, x.place(), "its XML cannot be read: %v", err)
	case x.samples == 0:
		return &importer.Error{File: x.label, Cause: "holds no samples of a time profile",
			Kind: importer.ErrUnsupported,
			Hint: "export that table: `xctrace export --input FILE --xpath " +
				"'/trace-toc/run/data/table[@schema=\"time-profile\"]'`"}
	case err != io.EOF:
		x.w.Report(trace.MissingRest, "files that break off, read up to there", 1, x.label+": "+x.place())
	}
	return nil
}

func (x *xctrace) place() string { return "byte " + strconv.FormatInt(x.decoder.InputOffset(), 10) }

// deepest bounds how deep elements are in each other.
const deepest = 64

// element reads one with all in it.
func (x *xctrace) element(start xml.StartElement, depth int) (*element, error) {
	if depth > deepest {
		return nil, errors.New("elements lie too deep in each other")
	}
	e := &element{tag: start.Name.Local}
	refers := ""
	for _, a := range start.Attr {
		switch a.Name.Local {
		case "id":
			x.known[a.Value] = e
		case "ref":
			refers = a.Value
		case "fmt":
			e.format = a.Value
		case "name":
			e.name = a.Value
		}
	}
	for {
		token, err := x.decoder.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			below, err := x.element(t, depth+1)
			if err != nil {
				return nil, err
			}
			e.below = append(e.below, below)
		case xml.CharData:
			if len(e.text) < 64 {
				e.text += strings.TrimSpace(string(t))
			}
		case xml.EndElement:
			if known := x.known[refers]; refers != "" && known != nil && known.tag == e.tag {
				return known, nil
			} else if refers != "" {
				x.w.Report(trace.MissingFrames, "references to elements that are not there", 1, x.label+": "+x.place())
			}
			return e, nil
		}
	}
}

// row takes a sample.
func (x *xctrace) row(row *element) {
	at, thread, weight := row.find("sample-time"), row.find("thread"), row.find("weight")
	if at == nil || thread == nil || weight == nil {
		x.w.Report(trace.MissingSamples, "rows that are no samples of a time profile", 1, x.label+": "+x.place())
		return
	}
	x.samples++
	time, _ := strconv.ParseInt(at.text, 10, 64)
	ns, _ := strconv.ParseFloat(weight.text, 64)
	var frames []trace.RegionID // innermost first
	if b := row.find("backtrace"); b != nil {
		for _, f := range b.below {
			if f.tag == "frame" {
				frames = append(frames, x.region(f))
			}
		}
	}
	if len(frames) == 0 {
		frames = append(frames, x.w.Region(trace.Region{Name: "(no stack)"}))
	}
	r := importer.Once(x.threads, thread, func() *importer.Row { return x.thread(thread) })
	r.Stream.Instant(trace.Time(time), frames[0])
	slices.Reverse(frames)
	x.out.Add(r.At, frames, []float64{ns, 1})
}

func (x *xctrace) region(f *element) trace.RegionID {
	return importer.Once(x.regions, f, func() trace.RegionID {
		r := trace.Region{Name: f.name}
		if b := f.find("binary"); b != nil {
			r.Category = b.name
		}
		r.Name = cmp.Or(r.Name, "(no name)")
		return x.w.Region(r)
	})
}

func (x *xctrace) thread(t *element) *importer.Row {
	process := importer.Process("process")
	if p := t.find("process"); p != nil {
		process.Name = p.format
		if pid := p.find("pid"); pid != nil {
			process.Key = pid.text
		}
	}
	thread := trace.Location{Kind: trace.KindThread, Name: t.format, Rank: trace.NoRank}
	if name, _, cut := strings.Cut(t.format, " ("); cut {
		thread.Name = name
	}
	if tid := t.find("tid"); tid != nil {
		thread.Key = tid.text
	}
	thread.Parent = x.w.Location(process)
	return x.rows.Open(thread, trace.StreamOptions{Unordered: true})
}
