package store

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// ErrOutline is returned for rows of a run of which only the outline is here.
var ErrOutline = errors.New("only the outline of this run is here, without its rows")

// An Outline is the part of a run that fits into some kilobytes: its facts, the names of its regions, and results that
// were computed for all of it, such as its fingerprint. Runs are compared by their outlines without being opened.
type Outline struct {
	Version    int
	Generation uint64
	Info       Info
	Regions    []trace.Region
	Results    map[string][]byte // as a Keeper stores them
}

// outlineVersion changes with the encoding of an outline.
const outlineVersion = 1

// OutlineOf returns the encoded outline of a run.
func OutlineOf(r Reader, results map[string][]byte) ([]byte, error) {
	o := Outline{outlineVersion, r.Generation(), *r.Info(), r.Regions(), results}
	o.Info.Report = nil
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&o); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// OpenOutline returns a Reader that answers from an outline, with no locations. Questions about rows return ErrOutline.
func OpenOutline(data []byte) (Reader, error) {
	o := &outlined{}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&o.outline); err != nil {
		return nil, fmt.Errorf("outline of a run: %w", err)
	}
	if o.outline.Version != outlineVersion {
		return nil, fmt.Errorf("outline of a run: version %d, want %d", o.outline.Version, outlineVersion)
	}
	return o, nil
}

// outlined implements Reader and Keeper.
type outlined struct {
	outline Outline
	none    Tree
}

var (
	_ Reader = (*outlined)(nil)
	_ Keeper = (*outlined)(nil)
)

func (o *outlined) Kept(name string) ([]byte, bool) {
	b, ok := o.outline.Results[name]
	return b, ok
}

func (o *outlined) Keep(string, []byte) error { return ErrOutline }

func (o *outlined) Generation() uint64                  { return o.outline.Generation }
func (o *outlined) Info() *Info                         { return &o.outline.Info }
func (o *outlined) Locations() *Tree                    { return &o.none }
func (o *outlined) Regions() []trace.Region             { return o.outline.Regions }
func (o *outlined) Counters() []trace.Counter           { return nil }
func (o *outlined) Attributes() []string                { return nil }
func (o *outlined) Metrics() []trace.Metric             { return nil }
func (o *outlined) CallPaths() []trace.CallPath         { return nil }
func (o *outlined) Communicators() []trace.Communicator { return nil }
func (o *outlined) Topologies() []trace.Topology        { return nil }
func (o *outlined) SourceFiles() []string               { return nil }
func (o *outlined) Lanes() []uint32                     { return []uint32{0} }
func (o *outlined) Close() error                        { return nil }

func (o *outlined) Count(Window) (int64, error) { return 0, ErrOutline }

func (o *outlined) Intervals(context.Context, Window, func(*trace.Columns) error) error {
	return ErrOutline
}

func (o *outlined) Interval(Row) (*trace.Columns, error) { return nil, ErrOutline }

func (o *outlined) At(trace.LocationID, int, trace.Time) (Row, bool, error) {
	return Row{}, false, ErrOutline
}

func (o *outlined) Children(context.Context, Row, func(*trace.Columns) error) error {
	return ErrOutline
}

func (o *outlined) Time(context.Context, Window) (*TimeTable, error) { return nil, ErrOutline }

func (o *outlined) Summaries(context.Context, string, Window, int, Visitor) error {
	return ErrOutline
}

func (o *outlined) Groups(context.Context, []trace.LocationID, trace.Time, trace.Time, int) (*GroupBins, error) {
	return nil, ErrOutline
}

func (o *outlined) RoleTime(context.Context, []trace.LocationID, []trace.Time) ([]trace.Sum, error) {
	return nil, ErrOutline
}

func (o *outlined) Links(context.Context, Window, func(*LinkColumns) error) error {
	return ErrOutline
}

func (o *outlined) LinkCount(Window) (int64, error) { return 0, ErrOutline }

func (o *outlined) Instants(context.Context, Window, func(*InstantColumns) error) error {
	return ErrOutline
}

func (o *outlined) Samples(context.Context, []trace.CounterID, trace.Time, trace.Time,
	func(*SampleColumns) error) error {
	return ErrOutline
}

func (o *outlined) IntervalAttributes(Row) ([]trace.Attribute, error) { return nil, ErrOutline }

func (o *outlined) AttributeColumn(context.Context, Window, trace.AttributeID,
	func(*AttributeColumns) error) error {
	return ErrOutline
}

func (o *outlined) InstantAttribute(context.Context, Window, trace.AttributeID,
	func(*InstantValues) error) error {
	return ErrOutline
}

func (o *outlined) Profile(context.Context, []trace.LocationID, func([]trace.ProfileRow) error) error {
	return ErrOutline
}

func (o *outlined) Lines(context.Context, []trace.LocationID, func([]trace.LineRow) error) error {
	return ErrOutline
}

func (o *outlined) Atomics(context.Context, []trace.LocationID, func([]trace.AtomicRow) error) error {
	return ErrOutline
}

func (o *outlined) Moments(context.Context, []trace.LocationID, func([]trace.MomentRow) error) error {
	return ErrOutline
}
