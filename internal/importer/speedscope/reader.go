package speedscope

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A frame is a function, at a line. With a column that is where the function begins; without one it is, as py-spy
// writes it, the line of the sample.
type frame struct {
	name, file string
	line       int64
	begins     bool
}

// A header is the part of a profile before its records.
type header struct {
	kind, name, unit string
	start            float64
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	label := run.Label(run.Files[0])
	pass := func(f func(*jsonstream.Reader) error, leave jsonstream.Leave, what string,
		count func() int) error {
		in, err := run.Open(run.Files[0])
		if err != nil {
			return err
		}
		defer in.Close()
		r := jsonstream.NewReader(ctx, in, label, leave)
		return r.End(f(r), count(), what)
	}
	var frames []frame
	var headers []header
	err := pass(func(r *jsonstream.Reader) error { return define(r, &frames, &headers) }, jsonstream.Silent,
		"frames", func() int { return len(frames) + len(headers) })
	if err != nil {
		return err
	}
	run.Progress = nil
	c := newConverter(w, run, frames)
	err = pass(func(r *jsonstream.Reader) error { return c.profiles(r, headers) },
		jsonstream.Reporter(w), "profiles",
		func() int { return c.records })
	if err != nil {
		return err
	}
	return c.finish()
}

// define reads the frames, and the headers of profiles.
func define(r *jsonstream.Reader, frames *[]frame, headers *[]header) error {
	return r.Members(func(name string) error {
		switch name {
		case "shared":
			return r.Members(func(name string) error {
				if name != "frames" {
					return r.Skip()
				}
				return r.Array(func() error {
					var f frame
					_, err := r.Take(func(c *jsonstream.Cursor) {
						for ok := c.Open('{'); ok && c.More('}'); {
							switch string(c.Key()) {
							case "name":
								f.name = c.Text()
							case "file":
								f.file = c.Text()
							case "line":
								f.line, _ = c.Whole()
							case "col":
								_, f.begins = c.Whole()
							}
						}
					})
					*frames = append(*frames, f)
					return err
				})
			})
		case "profiles":
			return r.Array(func() error {
				var h header
				err := r.Members(func(name string) error {
					switch name {
					case "type", "name", "unit", "startValue":
						_, err := r.Take(func(c *jsonstream.Cursor) {
							v := c.Scalar()
							switch name {
							case "type":
								h.kind = v.String()
							case "name":
								h.name = v.String()
							case "unit":
								h.unit = v.String()
							default:
								h.start, _ = v.Number()
							}
						})
						return err
					}
					return r.Skip()
				})
				*headers = append(*headers, h)
				return err
			})
		}
		return r.Skip()
	})
}

// profiles reads the records of all profiles.
func (c *converter) profiles(r *jsonstream.Reader, headers []header) error {
	at := 0
	return r.Members(func(name string) error {
		if name != "profiles" {
			return r.Skip()
		}
		return r.Array(func() error {
			if at == len(headers) {
				return r.Skip()
			}
			p := c.profile(headers[at], at)
			at++
			err := r.Members(func(name string) error {
				switch name {
				case "events":
					return r.Array(func() error { return c.take(r, p.event) })
				case "samples":
					return r.Array(func() error { return c.take(r, p.sample) })
				case "weights", "timeDeltas":
					return r.Array(func() error { return c.take(r, p.weight) })
				}
				return r.Skip()
			})
			if e := p.close(r.Place()); err == nil {
				err = e
			}
			return err
		})
	})
}

func (c *converter) take(r *jsonstream.Reader, f func(*jsonstream.Cursor)) error {
	ok, err := r.Take(f)
	if ok {
		c.records++
	}
	return err
}
