package firefox

import (
	"cmp"
	"math"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// counter reads a counter; pid is the process that it belongs to where it does not say. Counts are changes:
// of memory they are added up, other counters are shown as they are.
func (c *converter) counter(r *jsonstream.Reader, p *process, pid string) error {
	var name, category, graph string
	var tables []*table
	samples := func() error {
		t, err := readTable(r, "time", "timeDeltas", "count")
		tables = append(tables, t)
		return err
	}
	err := r.Members(func(member string) error {
		switch member {
		case "name", "category", "pid":
			_, err := r.Take(func(c *jsonstream.Cursor) {
				v := c.Scalar().String()
				switch member {
				case "name":
					name = v
				case "category":
					category = v
				default:
					pid = cmp.Or(v, pid)
				}
			})
			return err
		case "display":
			_, err := r.Take(func(c *jsonstream.Cursor) {
				for ok := c.Open('{'); ok && c.More('}'); {
					if string(c.Key()) == "graphType" {
						graph = c.Scalar().String()
					}
				}
			})
			return err
		case "samples":
			return samples()
		case "sampleGroups", "sample_groups": // of versions before 48 and 29
			group := func() error {
				return r.Members(func(member string) error {
					if member == "samples" {
						return samples()
					}
					return r.Skip()
				})
			}
			if r.Next() == '{' { // one, not a list of them
				return group()
			}
			return r.Array(group)
		}
		return r.Skip()
	})
	at := c.location(pid, "", p)
	id := c.w.Counter(trace.Counter{Location: at, Name: cmp.Or(name, "counter")})
	s := c.w.Stream(at, trace.StreamOptions{Unordered: true})
	adds := graph == "line-accumulated" || graph == "" && category == "Memory"
	for _, t := range tables {
		sum := 0.0
		for _, x := range c.times(t, r.Place()) {
			v := t.at("count", x.row)
			if math.IsNaN(v) {
				continue
			}
			if sum += v; adds {
				v = sum
			}
			s.Sample(id, c.time(p, x.at), v)
		}
	}
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}
