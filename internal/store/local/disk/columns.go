package disk

import (
	"fmt"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Columns are the mapped columns of a store. They view the files' memory.
type Columns struct {
	StringOffset []uint64
	StringBytes  []byte

	LocationName, LocationKind   []uint32
	LocationParent, LocationLast []trace.LocationID
	LocationLevel                []uint16
	LocationRank                 []int32
	LocationLane                 []uint32
	Group                        []uint64
	GroupLevel                   []uint8
	GroupRoles                   []uint16
	GroupTime                    []trace.Time
	LocationFact, RegionFact     definitionFacts

	RegionName, RegionCategory, RegionFile []uint32
	RegionRole                             []trace.Role
	RegionLine                             []int32
	AttributeName                          []uint32

	CounterLocation            []trace.LocationID
	CounterName, CounterUnit   []uint32
	CounterMonotone            []uint8
	CounterFirst, CounterCount []uint64

	CommunicatorName   []uint32
	CommunicatorParent []trace.CommunicatorID
	CommunicatorMember []uint64
	Member             []trace.LocationID

	CoordinateTopology []uint32
	CoordinateLocation []trace.LocationID
	CoordinateValue    []uint64
	Axis               []int64

	CallPathParent []trace.CallPathID
	CallPathRegion []trace.RegionID
	CallPathFlat   []uint8

	LaneRow                    []uint64
	LaneEnd                    []trace.Time
	LaneCheckpoint, LaneForest []uint64
	Begin, Duration, Exclusive []trace.Time
	Region                     []trace.RegionID
	Parent                     []int32
	Depth                      []uint16
	Fact, InstantFact          RowFacts
	CallerRow, Caller          []uint64
	CoverLane                  []uint32
	CoverRegion                []trace.RegionID
	CoverBegin, CoverEnd       []trace.Time

	InstantLocation []trace.LocationID
	InstantTime     []trace.Time
	InstantRegion   []trace.RegionID
	TextOffset      []uint64
	TextBytes       []byte
	SampleTime      []trace.Time
	SampleValue     []float64

	Link                 linkColumns
	BlockBegin, BlockEnd []trace.Time
	LinkNodeSum          []uint64
	LinkSum              linkSums
	Untimed              linkColumns

	ProfileLocation []trace.LocationID
	ProfilePath     []trace.CallPathID
	ProfileMetric   []trace.MetricID
	ProfileValue    [4][]float64 // calls, subcalls, inclusive, exclusive
	TotalPath       []trace.CallPathID
	TotalMetric     []trace.MetricID
	TotalValue      [4][]float64 // as profileValue
	LineLocation    []trace.LocationID
	LinePath        []trace.CallPathID
	LineCallee      []trace.CallPathID
	LineFile        []trace.FileID
	LineNumber      []uint32
	LineMetric      []trace.MetricID
	LineValue       [3][]float64 // calls, inclusive, exclusive
	AtomicLocation  []trace.LocationID
	AtomicPath      []trace.CallPathID
	AtomicMetric    []trace.MetricID
	AtomicValue     [5][]float64 // count, min, max, mean, sum of squares
	MomentLocation  []trace.LocationID
	MomentRole      []trace.Role
	MomentBegin     []trace.Time
	MomentEnd       []trace.Time
	MomentValue     [2][]float64 // weight, mean
	MomentCentral   []float64    // MaxMoment+1 a row

	CheckpointSum  []uint64
	CheckpointBase []uint32
	SumRegion      []trace.RegionID
	SumValue       []trace.Time // three a row
	LevelNode      []uint64
	NodeIndex      []int64
	NodeRow        []uint32
}

type definitionFacts struct {
	owner, key []uint32
	kind       []trace.ValueKind
	bits       []uint64
}

// Hexadecimal is the kind of facts that are strings of sixteen digits: the number is kept instead.
const Hexadecimal trace.ValueKind = 4

type RowFacts struct {
	Row       []uint64
	Attribute []trace.AttributeID
	Kind      []trace.ValueKind
	Bits      []uint64
}

type linkColumns struct {
	Kind                     []trace.LinkKind
	FromLocation, ToLocation []trace.LocationID
	FromTime, ToTime         []trace.Time
	fromLane, fromRow        []int32 // read by UnpackLinks
	toLane, toRow            []int32
	Size, Tag, Count         []int64
	Communicator             []trace.CommunicatorID
}

type linkSums struct {
	Kind                []trace.LinkKind
	From, To            []trace.LocationID
	Count, Sized, Bytes []int64
	Time                []trace.Time
}

// A target takes the bytes of a file.
type target func([]byte)

func into[T any](p *[]T) target { return func(b []byte) { *p = spool.ViewOf[T](b) } }

// Targets returns the destination of each file of the schema.
func (c *Columns) Targets() map[string]target {
	t := map[string]target{
		"string.offset.u64": into(&c.StringOffset), "string.bytes.u8": into(&c.StringBytes),
		"location.name.u32": into(&c.LocationName), "location.kind.u32": into(&c.LocationKind),
		"location.parent.u32": into(&c.LocationParent), "location.last.u32": into(&c.LocationLast),
		"location.level.u16": into(&c.LocationLevel), "location.rank.i32": into(&c.LocationRank),
		"location.lane.u32": into(&c.LocationLane), "location.group.u64": into(&c.Group),
		"location.group_level.u8": into(&c.GroupLevel), "location.group_roles.u16": into(&c.GroupRoles),
		"group.time.i64":  into(&c.GroupTime),
		"region.name.u32": into(&c.RegionName), "region.category.u32": into(&c.RegionCategory),
		"region.role.u8": into(&c.RegionRole), "region.file.u32": into(&c.RegionFile),
		"region.line.i32":      into(&c.RegionLine),
		"attribute.name.u32":   into(&c.AttributeName),
		"counter.location.u32": into(&c.CounterLocation), "counter.name.u32": into(&c.CounterName),
		"counter.unit.u32": into(&c.CounterUnit), "counter.monotone.u8": into(&c.CounterMonotone),
		"counter.first.u64": into(&c.CounterFirst), "counter.count.u64": into(&c.CounterCount),
		"communicator.name.u32": into(&c.CommunicatorName), "communicator.parent.u32": into(&c.CommunicatorParent),
		"communicator.member.u64": into(&c.CommunicatorMember), "member.location.u32": into(&c.Member),
		"coordinate.topology.u32": into(&c.CoordinateTopology), "coordinate.location.u32": into(&c.CoordinateLocation),
		"coordinate.value.u64": into(&c.CoordinateValue), "axis.value.i64": into(&c.Axis),
		"callpath.parent.u32": into(&c.CallPathParent), "callpath.region.u32": into(&c.CallPathRegion),
		"callpath.flat.u8": into(&c.CallPathFlat),
		"lane.row.u64":     into(&c.LaneRow), "lane.end.i64": into(&c.LaneEnd),
		"lane.checkpoint.u64": into(&c.LaneCheckpoint), "lane.forest.u64": into(&c.LaneForest),
		"interval.begin.i64": into(&c.Begin), "interval.duration.i64": into(&c.Duration),
		"interval.exclusive.i64": into(&c.Exclusive),
		"interval.region.u32":    into(&c.Region), "interval.parent.i32": into(&c.Parent),
		"interval.depth.u16":   into(&c.Depth),
		"instant.location.u32": into(&c.InstantLocation), "instant.time.i64": into(&c.InstantTime),
		"instant.region.u32": into(&c.InstantRegion),
		"caller.row.u64":     into(&c.CallerRow), "caller.caller.u64": into(&c.Caller),
		"cover.lane.u32": into(&c.CoverLane), "cover.region.u32": into(&c.CoverRegion),
		"cover.begin.i64": into(&c.CoverBegin), "cover.end.i64": into(&c.CoverEnd),
		"text.offset.u64": into(&c.TextOffset), "text.bytes.u8": into(&c.TextBytes),
		"sample.time.i64": into(&c.SampleTime), "sample.value.f64": into(&c.SampleValue),
		"link_block.begin.i64": into(&c.BlockBegin), "link_block.end.i64": into(&c.BlockEnd),
		"checkpoint.sum.u64": into(&c.CheckpointSum), "checkpoint.base.u32": into(&c.CheckpointBase),
		"sum.region.u32": into(&c.SumRegion), "sum.value.i64": into(&c.SumValue),
		"level.node.u64": into(&c.LevelNode), "node.index.i64": into(&c.NodeIndex), "node.row.u32": into(&c.NodeRow),
	}
	c.profileTargets(t)
	s := &c.LinkSum
	t["link_node.sum.u64"], t["link_sum.kind.u8"] = into(&c.LinkNodeSum), into(&s.Kind)
	t["link_sum.from_location.u32"], t["link_sum.to_location.u32"] = into(&s.From), into(&s.To)
	t["link_sum.count.i64"], t["link_sum.sized.i64"], t["link_sum.size.i64"] = into(&s.Count), into(&s.Sized),
		into(&s.Bytes)
	t["link_sum.time.i64"] = into(&s.Time)
	c.LocationFact.targets(t, "location_fact.location")
	c.RegionFact.targets(t, "region_fact.region")
	c.Fact.targets(t, "interval_fact.")
	c.InstantFact.targets(t, "instant_fact.")
	c.Link.targets(t, "link.", true)
	c.Untimed.targets(t, "untimed.", false)
	return t
}

func (c *Columns) profileTargets(t map[string]target) {
	t["profile.location.u32"], t["profile.path.u32"], t["profile.metric.u32"] = into(&c.ProfileLocation),
		into(&c.ProfilePath), into(&c.ProfileMetric)
	t["profile_total.path.u32"], t["profile_total.metric.u32"] = into(&c.TotalPath), into(&c.TotalMetric)
	for i, n := range []string{"calls", "subcalls", "inclusive", "exclusive"} {
		t["profile."+n+".f64"], t["profile_total."+n+".f64"] = into(&c.ProfileValue[i]), into(&c.TotalValue[i])
	}
	t["line.location.u32"], t["line.path.u32"], t["line.callee.u32"] = into(&c.LineLocation), into(&c.LinePath),
		into(&c.LineCallee)
	t["line.file.u32"], t["line.line.u32"], t["line.metric.u32"] = into(&c.LineFile), into(&c.LineNumber),
		into(&c.LineMetric)
	for i, n := range []string{"calls", "inclusive", "exclusive"} {
		t["line."+n+".f64"] = into(&c.LineValue[i])
	}
	t["atomic.location.u32"], t["atomic.path.u32"], t["atomic.metric.u32"] = into(&c.AtomicLocation),
		into(&c.AtomicPath), into(&c.AtomicMetric)
	for i, n := range []string{"count", "min", "max", "mean", "sum_squares"} {
		t["atomic."+n+".f64"] = into(&c.AtomicValue[i])
	}
	t["moment.location.u32"], t["moment.role.u8"] = into(&c.MomentLocation), into(&c.MomentRole)
	t["moment.begin.i64"], t["moment.end.i64"] = into(&c.MomentBegin), into(&c.MomentEnd)
	t["moment.weight.f64"], t["moment.mean.f64"], t["moment.central.f64"] = into(&c.MomentValue[0]),
		into(&c.MomentValue[1]), into(&c.MomentCentral)
}

func (f *definitionFacts) targets(t map[string]target, owner string) {
	table := owner[:len(owner)-len(filepath.Ext(owner))]
	t[owner+".u32"], t[table+".key.u32"] = into(&f.owner), into(&f.key)
	t[table+".kind.u8"], t[table+".bits.u64"] = into(&f.kind), into(&f.bits)
}

func (f *RowFacts) targets(t map[string]target, table string) {
	t[table+"row.u64"], t[table+"attribute.u32"] = into(&f.Row), into(&f.Attribute)
	t[table+"kind.u8"], t[table+"bits.u64"] = into(&f.Kind), into(&f.Bits)
}

func (l *linkColumns) targets(t map[string]target, table string, timed bool) {
	t[table+"kind.u8"], t[table+"from_location.u32"], t[table+"to_location.u32"] = into(&l.Kind), into(&l.FromLocation),
		into(&l.ToLocation)
	t[table+"size.i64"], t[table+"tag.i64"], t[table+"count.i64"] = into(&l.Size), into(&l.Tag), into(&l.Count)
	t[table+"communicator.u32"] = into(&l.Communicator)
	if timed {
		t[table+"from_time.i64"], t[table+"from_lane.i32"], t[table+"from_row.i32"] = into(&l.FromTime),
			into(&l.fromLane), into(&l.fromRow)
		t[table+"to_time.i64"], t[table+"to_lane.i32"], t[table+"to_row.i32"] = into(&l.ToTime), into(&l.toLane),
			into(&l.toRow)
	}
}

// CheckLengths makes sure that the columns of each table agree on how many rows
// there are. Entries are those of the manifest.
func CheckLengths(entry func(file string) (FileEntry, bool)) error {
	for _, t := range Schema {
		rows := int64(-1)
		for i := range t.Columns {
			c := &t.Columns[i]
			e, ok := entry(c.File())
			if !ok {
				return fmt.Errorf("%s is not in the manifest: %w", c.File(), ErrDamaged)
			}
			n := e.Size
			if c.Packed && (e.Values != 0 || !t.Core) { // small tables that were written again are plain
				if n = e.Values * typeWidth[c.typ]; e.Values < 0 || e.Values > 1<<48 || e.Values > 0 != (e.Size > 0) {
					return fmt.Errorf("%s: %d values in %d bytes: %w", c.File(), e.Values, e.Size, ErrDamaged)
				}
			} else if e.Values != 0 {
				return fmt.Errorf("%s is packed, and should not be: %w", c.File(), ErrDamaged)
			}
			if n%c.Width() != 0 {
				return fmt.Errorf("%s: %d bytes are no whole number of values: %w", c.File(), n, ErrDamaged)
			}
			n /= c.Width()
			switch c.Kind {
			case Free:
				continue
			case Offsets, WithAll:
				n--
			}
			if rows >= 0 && n != rows || n < 0 {
				return fmt.Errorf("%s: %d rows, other columns of the table have %d: %w", c.File(), n, rows, ErrDamaged)
			}
			rows = n
		}
	}
	return nil
}

func (l *linkColumns) AppendTail(out *store.LinkColumns, i int) {
	out.Size, out.Tag = append(out.Size, l.Size[i]), append(out.Tag, l.Tag[i])
	out.Communicator, out.Count = append(out.Communicator, l.Communicator[i]), append(out.Count, l.Count[i])
}

func (f *definitionFacts) Each(text func(uint32) string, add func(uint32, trace.Attribute)) {
	for i, owner := range f.owner {
		s := ""
		bits := f.bits[i]
		if f.kind[i] == trace.ValueText {
			s, bits = text(uint32(bits)), 0
		}
		add(owner, trace.Attribute{Key: text(f.key[i]), Value: trace.ValueOf(f.kind[i], bits, s)})
	}
}
