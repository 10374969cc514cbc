package callgraph

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// records gives the record of each lane of a random run, with the lane's rows.
func records(t *testing.T) (*run, [][]byte, []trace.DigestedLane) {
	t.Helper()
	r := random(3, 2, 40_000)
	b := Digest{}.Builder(len(r.reader.Regions()))
	var out [][]byte
	var lanes []trace.DigestedLane
	for _, id := range r.locations {
		var all trace.Columns
		_ = r.reader.Intervals(context.Background(), store.Window{End: r.reader.Info().End, Locations: []trace.LocationID{id}}, func(c *trace.Columns) error {
			all.Begin, all.Duration, all.Exclusive = append(all.Begin, c.Begin...), append(all.Duration, c.Duration...), append(all.Exclusive, c.Exclusive...)
			all.Region, all.Parent, all.Depth = append(all.Region, c.Region...), append(all.Parent, c.Parent...), append(all.Depth, c.Depth...)
			return nil
		})
		out = append(out, b.Build(nil, &all))
		lanes = append(lanes, trace.DigestedLane{Location: id, Lanes: 1, Hi: all.Len(), Read: func(lo, hi int, f func(*trace.Columns) error) error { return nil }})
	}
	return r, out, lanes
}

// TestDamagedRecordsAreErrors: a record that was cut or changed gives an error or
// other numbers, never a panic.
func TestDamagedRecordsAreErrors(t *testing.T) {
	r, all, lanes := records(t)
	use := func(lane trace.DigestedLane, record []byte) error {
		lane.Record = record
		c := &Collector{Options: Options{Node: r.of, Nodes: len(r.nodes), Measure: Exclusive}}
		p := &PathCollector{End: 1 << 60, Measure: Inclusive, Regions: len(r.of)}
		err := c.addLane(&lane, &Graph{}, true)
		if e := p.Add(&lane); err == nil {
			err = e
		}
		p.Paths(context.Background())
		most := lane // most of a block
		most.Lo, most.Hi = lane.Hi/9, lane.Hi-lane.Hi/9
		_ = (&Collector{Options: Options{Node: r.of, Nodes: len(r.nodes)}}).addLane(&most, &Graph{}, true)
		_ = (&PathCollector{End: 1 << 60, Regions: len(r.of)}).Add(&most)
		return err
	}
	for k, record := range all {
		if len(record) == 0 {
			t.Fatal("no record")
		}
		if err := use(lanes[k], record); err != nil {
			t.Fatal(err)
		}
		for cut := 1; cut < len(record); cut += 1 + len(record)/100 {
			if use(lanes[k], record[:cut]) == nil {
				t.Errorf("%d of %d bytes are a record", cut, len(record))
			}
		}
		for i := 0; i < len(record); i += 1 + len(record)/300 {
			for _, bit := range []byte{1, 0x40, 0x80, 0xff} {
				c := append([]byte{}, record...)
				c[i] ^= bit
				_ = use(lanes[k], c)
			}
		}
	}
}

// Of few rows, as goroutines have them, there is no record: they are read.
func TestFewRowsHaveNoRecord(t *testing.T) {
	r, _, _ := records(t)
	var all trace.Columns
	_ = r.reader.Intervals(context.Background(), store.Window{End: r.reader.Info().End, Locations: r.locations[:1]}, func(c *trace.Columns) error {
		all.Begin, all.Duration, all.Exclusive = append(all.Begin, c.Begin...), append(all.Duration, c.Duration...), append(all.Exclusive, c.Exclusive...)
		all.Region, all.Parent, all.Depth = append(all.Region, c.Region...), append(all.Parent, c.Parent...), append(all.Depth, c.Depth...)
		return nil
	})
	cut := func(n int) *trace.Columns {
		return &trace.Columns{Begin: all.Begin[:n], Duration: all.Duration[:n], Exclusive: all.Exclusive[:n], Region: all.Region[:n], Parent: all.Parent[:n], Depth: all.Depth[:n]}
	}
	b := Digest{}.Builder(len(r.reader.Regions()))
	for i := range all.Parent[:fewRows+1] { // of one path
		all.Region[i], all.Parent[i], all.Depth[i] = all.Region[0], -1, 0
	}
	if few, more := b.Build(nil, cut(fewRows)), b.Build(nil, cut(fewRows+1)); len(few) > 0 || len(more) == 0 {
		t.Errorf("%d rows have a record of %d bytes, one more of %d", fewRows, len(few), len(more))
	}
}
