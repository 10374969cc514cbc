package stackprof

import (
	"context"
	"io"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// readJSON reads a dump that was made JSON.
func (p *profile) readJSON(ctx context.Context, in io.Reader, label string, w trace.Writer) error {
	r := jsonstream.NewReader(ctx, in, label, jsonstream.Reporter(w))
	numbers := func(to *[]int64) error {
		return r.Array(func() error {
			v := int64(0)
			if _, err := r.Take(func(c *jsonstream.Cursor) { v, _ = c.Whole() }); err != nil {
				return err
			}
			*to = append(*to, v)
			return nil
		})
	}
	err := r.Members(func(name string) error {
		switch name {
		case "mode", "interval", "missed_samples":
			_, err := r.Take(func(c *jsonstream.Cursor) { p.set(name, c.Scalar()) })
			return err
		case "frames":
			return r.Members(func(id string) error {
				number, err := strconv.ParseInt(id, 10, 64)
				if err != nil {
					r.Leave(trace.MissingFrames, "frames without a number")
					return r.Skip()
				}
				_, err = r.Take(func(c *jsonstream.Cursor) {
					f := p.frame(number)
					for ok := c.Open('{'); ok && c.More('}'); {
						switch string(c.Key()) {
						case "name":
							f.name = c.Text()
						case "file":
							f.file = c.Text()
						case "line":
							f.line, _ = c.Whole()
						case "total_samples":
							f.total, _ = c.Scalar().Number()
						case "samples":
							f.self, _ = c.Scalar().Number()
						}
					}
				})
				return err
			})
		case "raw":
			return numbers(&p.raw)
		case "raw_timestamp_deltas":
			return numbers(&p.deltas)
		}
		return r.Skip()
	})
	return r.End(err, len(p.frames), "frames")
}

// frame finds or makes a frame.
func (p *profile) frame(id int64) *frame {
	f, ok := p.frames[id]
	if !ok {
		f = &frame{}
		p.frames[id] = f
		p.order = append(p.order, id)
	}
	return f
}

// set takes a member that is a scalar.
func (p *profile) set(name string, v trace.Value) {
	n, _ := v.Number()
	switch name {
	case "mode":
		p.mode = v.String()
	case "interval":
		p.interval = n
	case "missed_samples":
		p.missed = n
	}
}
