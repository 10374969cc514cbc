package demo

import "github.com/parallax-hpc/parallax/internal/trace"

// A lane holds the intervals of one location until a step is over, parents first, though the end of a parent is
// known only after its children. If keep is off it only counts.
type lane struct {
	keep bool
	rows []laneRow
	n    int
}

// A laneRow is an interval with the facts that PyTorch's profiler records.
type laneRow struct {
	begin, end  trace.Time
	region      trace.RegionID
	external    int64 // id of the operator; 0: none
	correlation int64 // id of the launch; 0: none
	bytes       int64 // moved by a copy; 0: none
	elements    int64 // of a collective; 0: none
}

// open adds an interval whose end is given later, by close.
func (l *lane) open(begin trace.Time, region trace.RegionID, external int64) int {
	return l.add(laneRow{begin: begin, region: region, external: external})
}

func (l *lane) close(row int, end trace.Time) {
	if l.keep {
		l.rows[row].end = end
	}
}

func (l *lane) add(r laneRow) int {
	l.n++
	if !l.keep {
		return 0
	}
	l.rows = append(l.rows, r)
	return len(l.rows) - 1
}

// span gives row the extent of the rows added after it.
func (l *lane) span(row int) {
	if l.keep {
		l.rows[row].begin, l.rows[row].end = l.rows[row+1].begin, l.rows[len(l.rows)-1].end
	}
}

// flush writes the rows and forgets them.
func (l *lane) flush(out trace.Stream, t *training) {
	for i := range l.rows {
		r := &l.rows[i]
		out.Interval(r.begin, r.end, r.region)
		if r.external != 0 {
			out.Attribute(t.attributes.external, trace.Integer(r.external))
		}
		if r.correlation != 0 {
			out.Attribute(t.attributes.correlation, trace.Integer(r.correlation))
		}
		if r.bytes != 0 {
			out.Attribute(t.attributes.bytes, trace.Integer(r.bytes))
		}
		if r.elements != 0 {
			t.describeCollective(out, r.elements)
		}
	}
	l.rows = l.rows[:0]
}
