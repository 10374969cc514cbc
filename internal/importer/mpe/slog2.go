package mpe

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A block is where a part of the file lies.
type block struct {
	at   int64
	size int64
}

// mostSlogBlock bounds one node of the tree: leaves have 64 KiB unless the user asked for more.
const mostSlogBlock = 1 << 30

// A category is a kind of drawable.
type category struct {
	name   string
	shape  int32 // 0 event, 1 state, 2 arrow
	region trace.RegionID
	fields []field
	count  int64 // drawables that the file says there are
	met    int64
}

const (
	shapeEvent, shapeState, shapeArrow = 0, 1, 2

	primitive, composite = 0, 1
)

// A slog is an open SLOG-2 file.
type slog struct {
	run        importer.Run
	w          trace.Writer
	file       io.ReaderAt
	size       int64
	label      string
	categories map[int32]*category
	lines      map[int32]trace.LocationID
	tree       []block
	rows       importer.Rows
	attributes importer.Attributes
}

func readSLOG2(ctx context.Context, run importer.Run, name string, w trace.Writer) error {
	file, size, done, err := importer.RandomAccess(run, name)
	if err != nil {
		return err
	}
	defer done()
	s := &slog{run: run, w: w, file: file, size: size, label: run.Label(name), categories: map[int32]*category{},
		lines: map[int32]trace.LocationID{}, rows: importer.NewRows(w), attributes: importer.NewAttributes(w)}
	if err := s.header(); err != nil {
		return err
	}
	for _, b := range s.tree {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.node(b); err != nil {
			w.Report(trace.MissingRest,
				"nodes of the tree that break off", 1, fmt.Sprintf("%s: byte %d", s.label, b.at))
		}
	}
	missing := int64(0)
	for _, c := range s.categories {
		missing += max(c.count-c.met, 0)
	}
	importer.Tell(w, trace.MissingIntervals,
		"drawables that the table of categories counts and the tree does not hold", missing, s.label)
	return s.rows.Close()
}

// header reads where everything is, and the tables.
func (s *slog) header() error {
	in := s.open(block{0, min(s.size, 256)})
	version := in.string()
	if in.Failed() || version != "SLOG 2.0.6" {
		return &importer.Error{File: s.label, Cause: fmt.Sprintf("version %q of the format", version),
			Hint: "SLOG 2.0.6 is read; slog2updater of MPE makes it of 2.0.5", Kind: importer.ErrUnsupported}
	}
	in.Skip(2 + 4 + 2 + 4)
	categories, _, lines, _, tree := in.block(), in.block(), in.block(), in.block(), in.block()
	if in.Failed() {
		return importer.Malformed(s.label, "byte 0", "the header is cut")
	}
	if err := s.readCategories(categories); err != nil {
		return err
	}
	if err := s.readLines(lines); err != nil {
		return err
	}
	return s.readTree(tree)
}

func (s *slog) readCategories(b block) error {
	in := s.open(b)
	for n := in.Int32(); n > 0 && !in.Failed(); n-- {
		id, c := in.Int32(), &category{name: in.string()}
		c.shape = in.Int32()
		colour := in.Int32()
		in.Skip(1 + 1) // may be changed; width
		names := make([]string, 0, 8)
		for n := in.short(); n > 0 && !in.Failed(); n-- {
			names = append(names, in.string())
		}
		for i, n := 0, in.short(); i < n && !in.Failed(); i++ {
			f := field{"value", in.Byte()}
			if i < len(names) {
				f.name = fieldName(names[i])
			}
			c.fields = append(c.fields, f)
		}
		in.Skip(4 * int64(max(in.short(), 0))) // methods
		in.Skip(4 + 4)                         // ratios, for previews
		c.count = in.Int64()
		if in.Failed() {
			break
		}
		if id < 0 {
			continue // previews
		}
		c.region = trace.NoRegion
		if c.shape != shapeArrow {
			c.region = s.w.Region(regionOf(c.name, fmt.Sprintf("#%06x", colour&0xffffff), false))
		}
		s.categories[id] = c
	}
	if in.Failed() {
		return importer.Malformed(s.label, fmt.Sprintf("byte %d", b.at), "the table of categories is damaged")
	}
	return nil
}

// readLines says whose the lines are: by the first map that has ranks of MPI_COMM_WORLD, else by the first.
func (s *slog) readLines(b block) error {
	in := s.open(b)
	chosen := false
	for n := in.Int32(); n > 0 && !in.Failed(); n-- {
		in.string()
		columns := in.Int32()
		if columns < 1 || columns > 64 {
			in.fail()
			break
		}
		labels := make([]string, columns)
		for i := range labels {
			labels[i] = in.string()
		}
		take := !chosen && !in.Failed() && (labels[0] == "world_rank" || len(s.lines) == 0)
		if take {
			clear(s.lines)
			chosen = labels[0] == "world_rank"
		}
		path := make([]int32, columns)
		for n := in.Int32(); n > 0 && !in.Failed(); n-- {
			id := in.Int32()
			for i := range path {
				path[i] = in.Int32()
			}
			if take && !in.Failed() {
				s.lines[id] = s.location(labels, path)
			}
		}
		in.Skip(4 * int64(max(in.short(), 0)))
	}
	if in.Failed() {
		return importer.Malformed(s.label, fmt.Sprintf("byte %d", b.at), "the table of lines is damaged")
	}
	return nil
}

// location makes the locations of a line, from the top down.
func (s *slog) location(labels []string, path []int32) trace.LocationID {
	at := trace.NoLocation
	for i, v := range path {
		number := strconv.Itoa(int(v))
		l := trace.Location{Parent: at, Kind: trace.KindGroup, Key: labels[i] + " " + number,
			Name: labels[i] + " " + number, Rank: trace.NoRank, Order: int64(v)}
		switch {
		case labels[i] == "thread" && i > 0:
			l.Kind, l.Key, l.Name = trace.KindThread, number, "thread "+number
		case i == 0 && (labels[i] == "world_rank" || labels[i] == "LineID") && v >= 0 && v < mostRank:
			l.Kind, l.Key, l.Name, l.Rank = trace.KindProcess, number, "rank "+number, int(v)
		}
		at = s.w.Location(l)
	}
	return at
}

// readTree reads the directory of nodes, in the order of the file.
func (s *slog) readTree(b block) error {
	in := s.open(b)
	n := in.Int32()
	if in.Failed() || int64(n)*34 > int64(in.Left()) {
		return importer.Malformed(s.label, fmt.Sprintf("byte %d", b.at), "the directory of the tree is cut")
	}
	for ; n > 0; n-- {
		in.Skip(2 + 4 + 8 + 8)
		s.tree = append(s.tree, in.block())
	}
	order := func(a, b block) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.size, b.size)) }
	slices.SortFunc(s.tree, order)
	// Nodes do not share bytes: overlapping ones would be read again and again.
	end := int64(0)
	s.tree = slices.DeleteFunc(slices.Compact(s.tree), func(b block) bool {
		if b.at < end {
			s.w.Report(trace.MissingEvents, "nodes of the tree that lie in others", 1,
				fmt.Sprintf("%s: byte %d", s.label, b.at))
			return true
		}
		end = b.at + max(b.size, 0)
		return false
	})
	return nil
}

// node reads the drawables of one node: first those that do not nest, then states.
func (s *slog) node(b block) error {
	in := s.open(b)
	in.Skip(8 + 8 + 2 + 4 + 12)
	for range 2 {
		for n := in.Int32(); n > 0; n-- {
			switch in.Byte() {
			case primitive:
				s.drawable(in)
			case composite:
				in.Skip(4)
				in.bytes()
				for n := in.short(); n > 0 && !in.Failed(); n-- {
					s.drawable(in)
				}
			default:
				in.fail()
			}
			if in.Failed() {
				return io.ErrUnexpectedEOF
			}
		}
	}
	if in.Failed() {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// A vertex is a corner of a drawable.
type vertex struct {
	time float64
	line int32
}

// drawable takes one state, arrow or event.
func (s *slog) drawable(in input) {
	c := s.categories[in.Int32()]
	info := in.bytes()
	var v [2]vertex
	n := in.short()
	for i := range n {
		x := vertex{in.Float64(), in.Int32()}
		if in.Failed() {
			return
		}
		if i < len(v) {
			v[i] = x
		}
	}
	if in.Failed() {
		return
	}
	if c == nil || n < 1 || n > 2 || n == 1 && c.shape != shapeEvent {
		s.w.Report(trace.MissingIntervals, "drawables of no known category or shape", 1, s.label)
		return
	}
	c.met++
	if n == 1 {
		v[1] = v[0]
	}
	begin, ok := timeOf(v[0].time)
	end, ok2 := timeOf(v[1].time)
	from, ok3 := s.lines[v[0].line]
	to, ok4 := s.lines[v[1].line]
	if !ok || !ok2 || !ok3 || !ok4 {
		s.w.Report(trace.MissingIntervals, "drawables on a line or at a time that there is not", 1, s.label)
		return
	}
	if c.shape == shapeArrow {
		s.arrow(c, info, from, to, begin, end)
		return
	}
	stream := s.rows.At(from, trace.StreamOptions{Unordered: true}).Stream
	if c.shape == shapeState {
		stream.Interval(begin, end, c.region)
	} else {
		stream.Instant(begin, c.region)
	}
	values(c.fields, info, func(f field, v trace.Value) { stream.Attribute(s.attributes.ID(f.name), v) })
}

func (s *slog) arrow(c *category, info []byte, from, to trace.LocationID, begin, end trace.Time) {
	link := trace.Link{
		Kind: trace.LinkMessage, Size: -1, Communicator: trace.NoCommunicator,
		From: trace.End{Location: from, Time: begin, Region: trace.NoRegion},
		To:   trace.End{Location: to, Time: end, Region: trace.NoRegion},
	}
	values(c.fields, info, func(f field, v trace.Value) {
		n, _ := v.Integer()
		switch f.name {
		case "msg_tag":
			link.Tag = n
		case "msg_size":
			link.Size = n
		}
	})
	s.w.Link(link)
}

// An input reads the big-endian values of a block.
type input struct{ *wire.Cursor }

// open reads a block.
func (s *slog) open(b block) input {
	in := input{wire.Of(nil).Big()}
	if b.at < 0 || b.size < 0 || b.size > mostSlogBlock || b.at > s.size || b.size > s.size-b.at {
		in.fail()
		return in
	}
	buf := make([]byte, b.size)
	if n, err := s.file.ReadAt(buf, b.at); int64(n) < b.size && err != nil {
		in.fail()
		return in
	}
	return input{wire.Of(buf).Big()}
}

func (in input) fail()         { in.Fail(io.ErrUnexpectedEOF) }
func (in input) short() int    { return int(int16(in.Uint16())) }
func (in input) block() block  { return block{in.Int64(), int64(in.Int32())} }
func (in input) bytes() []byte { return in.Take(max(in.short(), 0)) }
func (in input) string() string {
	return string(bytes.ToValidUTF8(in.bytes(), []byte("\ufffd")))
}
