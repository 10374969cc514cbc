package query

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/table"
	"modernc.org/sqlite/vtab"
)

// A cursor walks the rows of a table. Those of a list it asks for one by one; a scan
// runs on a goroutine of its own and is at most a batch ahead.
type cursor struct {
	*virtual
	filter table.Filter
	plan   string // as parts and want say it
	parts  []part
	want   []bool
	row    int64 // how many came before

	at, end int // of a list: next and last row

	batch   *table.Batch
	next    int // in the batch
	batches chan *table.Batch
	cancel  context.CancelFunc
	failed  error // of the scan, once batches is closed
}

// Filter implements vtab.Cursor.
func (c *cursor) Filter(_ int, plan string, values []vtab.Value) error {
	c.stop()
	c.row = 0
	if err := c.read(plan, values); err != nil {
		return c.session.fail(err)
	}
	if c.table.List != nil {
		c.at, c.end = c.span()
		c.session.read.Add(int64(max(c.end-c.at, 0)))
		return nil
	}
	if c.table.Find != nil {
		var found []*table.Batch
		out := &table.Output{Want: c.want, Few: true, Read: &c.session.read,
			Emit: func(b *table.Batch) error { found = append(found, b); return nil }}
		ok, err := c.table.Find(c.run, &c.filter, out)
		if err != nil {
			return c.session.fail(err)
		}
		if ok {
			if c.batch, c.next = nil, 0; len(found) > 0 {
				c.batch = found[0] // a place holds one interval
			}
			return nil
		}
	}
	c.start()
	return c.fetch()
}

// read makes a filter of the plan and the values for it.
func (c *cursor) read(plan string, values []vtab.Value) error {
	if plan != c.plan || c.want == nil { // the inner side of a join is asked again and again
		if err := c.parse(plan); err != nil {
			return err
		}
	}
	c.filter = table.Filter{Conditions: make([]table.Condition, 0, len(c.parts))}
	for i, p := range c.parts {
		if i >= len(values) {
			return fmt.Errorf("%s: the plan %q is not ours", c.table.Name, plan)
		}
		value := values[i]
		if b, ok := value.([]byte); ok {
			value = string(b)
		}
		if p.column >= len(c.table.Columns) {
			if c.filter.Arguments == nil {
				c.filter.Arguments = map[string]any{}
			}
			c.filter.Arguments[c.table.Arguments[p.column-len(c.table.Columns)].Name] = value
			continue
		}
		c.filter.Conditions = append(c.filter.Conditions,
			table.Condition{Column: c.table.Columns[p.column].Name, Op: p.op, Value: value})
	}
	return nil
}

// A part of a plan is the condition that one value is for.
type part struct {
	column int
	op     table.Op
}

// parse reads a plan of BestIndex.
func (c *cursor) parse(plan string) error {
	conditions, used, _ := strings.Cut(plan, "|")
	c.plan, c.parts = plan, nil
	for _, p := range strings.Fields(conditions) {
		digits := strings.TrimRight(p, "=<>like")
		n, err := strconv.Atoi(digits)
		if err != nil {
			return fmt.Errorf("%s: the plan %q is not ours", c.table.Name, plan)
		}
		c.parts = append(c.parts, part{n, table.Op(p[len(digits):])})
	}
	mask, _ := strconv.ParseUint(used, 16, 64)
	c.want = make([]bool, len(c.table.Columns))
	for i := range c.want {
		c.want[i] = mask>>min(i, 63)&1 == 1
	}
	return nil
}

// span returns the rows of a list that the conditions on its id leave.
func (c *cursor) span() (from, to int) {
	n := c.table.List.Len(c.run)
	if c.table.Columns[0].Name != "id" {
		return 0, n
	}
	lo, hi := c.filter.Between("id")
	lo, hi = max(lo, 0), min(hi, int64(n)-1)
	if lo > hi || hi == math.MaxInt64 {
		return 0, 0
	}
	return int(lo), int(hi) + 1
}

// start runs the scan.
func (c *cursor) start() {
	ctx, cancel := context.WithCancel(c.session.ctx)
	batches := make(chan *table.Batch, 1)
	c.batches, c.cancel, c.batch, c.next, c.failed = batches, cancel, nil, 0, nil
	out := &table.Output{Want: c.want, Read: &c.session.read, Emit: func(b *table.Batch) error {
		select {
		case batches <- b:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}
	filter := c.filter
	go func() {
		defer close(batches)
		defer func() {
			if p := recover(); p != nil {
				c.failed = fmt.Errorf("table %s: %v: internal error\n%s", c.table.Name, p, debug.Stack())
			}
		}()
		c.failed = c.table.Scan(ctx, c.run, &filter, out)
	}()
}

// fetch waits for the next batch; nil at the end.
func (c *cursor) fetch() error {
	c.batch, c.next = <-c.batches, 0
	if c.batch == nil && c.failed != nil {
		return c.session.fail(c.failed)
	}
	return nil
}

// stop ends the scan and waits for it, so that no table is read after its cursor is gone.
func (c *cursor) stop() {
	if c.batches == nil {
		return
	}
	c.cancel()
	for range c.batches {
	}
	c.batches = nil
}

// Next implements vtab.Cursor.
func (c *cursor) Next() error {
	c.row++
	if c.table.List != nil {
		c.at++
		return nil
	}
	if c.next++; c.next < c.batch.Rows {
		return nil
	}
	if c.batches == nil {
		c.batch = nil
		return nil
	}
	return c.fetch()
}

// Eof implements vtab.Cursor.
func (c *cursor) Eof() bool {
	if c.table.List != nil {
		return c.at >= c.end
	}
	return c.batch == nil
}

// Column implements vtab.Cursor.
func (c *cursor) Column(i int) (vtab.Value, error) {
	switch {
	case i < 0:
		return c.row, nil
	case i >= len(c.table.Columns):
		return c.filter.Arguments[c.table.Arguments[i-len(c.table.Columns)].Name], nil
	case c.table.List != nil:
		return c.table.List.Cell(c.run, c.at, i)
	}
	return c.batch.Columns[i].Value(c.next), nil
}

// Rowid implements vtab.Cursor.
func (c *cursor) Rowid() (int64, error) { return c.row, nil }

// Close implements vtab.Cursor.
func (c *cursor) Close() error {
	c.stop()
	return nil
}
