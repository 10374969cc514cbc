package stack

import "github.com/parallax-hpc/parallax/internal/trace"

// joinLines adds up the cells of a call path that differ in lines only.
func (p *Profile) joinLines() {
	n := 2 * len(p.metrics)
	first := map[trace.CallPathID]int32{}
	at := map[cellKey]int{}
	kept := 0
	for i, k := range p.keys {
		path := p.nodes[k.node].path
		if id, ok := first[path]; ok {
			k.node = id
		} else {
			first[path] = k.node
		}
		values := p.values[i*n : (i+1)*n]
		if to, ok := at[k]; ok {
			for m, v := range values {
				p.values[to*n+m] += v
			}
			continue
		}
		at[k] = kept
		p.keys[kept] = k
		copy(p.values[kept*n:], values)
		kept++
	}
	p.keys, p.values = p.keys[:kept], p.values[:kept*n]
}

// A lineKey names a line, or the calls from a line to a callee.
type lineKey struct {
	location     trace.LocationID
	path, callee trace.CallPathID
	line         int
}

// A lineSums adds up values by line.
type lineSums struct {
	at     map[lineKey]int
	keys   []lineKey
	values []float64 // as those of a Profile
}

func (s *lineSums) cell(k lineKey, width int) []float64 {
	i, ok := s.at[k]
	if !ok {
		i = len(s.keys)
		s.at[k] = i
		s.keys = append(s.keys, k)
		s.values = append(s.values, make([]float64, width)...)
	}
	return s.values[i*width : (i+1)*width]
}

// finishLines writes the rows of source lines.
func (p *Profile) finishLines() {
	n := 2 * len(p.metrics)
	outermost, firstCall := p.firstOnStack()
	sums := &lineSums{at: map[lineKey]int{}}
	for i, k := range p.keys {
		x := &p.nodes[k.node]
		values := p.values[i*n : (i+1)*n]
		if p.lined[x.Region] {
			own := sums.cell(lineKey{k.location, x.path, trace.NoCallPath, x.Line}, n)
			for m := 0; m < n; m += 2 {
				if outermost[k.node] {
					own[m] += values[m]
				}
				own[m+1] += values[m+1]
			}
		}
		if x.up < 0 || p.nodes[x.up].Line == 0 || !firstCall[k.node] {
			continue
		}
		caller := &p.nodes[x.up]
		call := sums.cell(lineKey{k.location, caller.path, x.path, caller.Line}, n)
		for m := 0; m < n; m += 2 {
			call[m] += values[m]
		}
	}
	p.writeLines(sums, n)
}

func (p *Profile) writeLines(sums *lineSums, width int) {
	var rows []trace.LineRow
	for i, k := range sums.keys {
		for m, metric := range p.metrics {
			v := sums.values[i*width+2*m:]
			if v[0] == 0 && v[1] == 0 {
				continue
			}
			rows = append(rows, trace.LineRow{Location: k.location, Path: k.path, Callee: k.callee, File: trace.NoFile,
				Line: uint32(k.line), Metric: metric, Inclusive: v[0], Exclusive: v[1]})
		}
	}
	trace.AddLines(p.w, rows)
}

// firstOnStack reports for each node whether no node above it is the same line of the same region, and whether none
// above is the same call from the same line. Only these add to inclusive values: a stack counts once.
func (p *Profile) firstOnStack() (outermost, firstCall []bool) {
	outermost, firstCall = make([]bool, len(p.nodes)), make([]bool, len(p.nodes))
	for i := range p.nodes {
		x := &p.nodes[i]
		outermost[i], firstCall[i] = true, true
		for up := x.up; up >= 0; up = p.nodes[up].up {
			above := &p.nodes[up]
			if above.Frame == x.Frame {
				outermost[i] = false
			}
			if above.up >= 0 && above.Region == x.Region && p.nodes[above.up].Frame == p.nodes[x.up].Frame {
				firstCall[i] = false
			}
		}
	}
	return outermost, firstCall
}
