package local

import (
	"fmt"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// columns are the mapped columns of a store. They view the files' memory.
type columns struct {
	stringOffset []uint64
	stringBytes  []byte

	locationName, locationKind   []uint32
	locationParent, locationLast []trace.LocationID
	locationLevel                []uint16
	locationRank                 []int32
	locationLane                 []uint32
	group                        []uint64
	groupLevel                   []uint8
	groupRoles                   []uint16
	groupTime                    []trace.Time
	locationFact, regionFact     definitionFacts

	regionName, regionCategory, regionFile []uint32
	regionRole                             []trace.Role
	regionLine                             []int32
	attributeName                          []uint32

	counterLocation            []trace.LocationID
	counterName, counterUnit   []uint32
	counterMonotone            []uint8
	counterFirst, counterCount []uint64

	communicatorName   []uint32
	communicatorParent []trace.CommunicatorID
	communicatorMember []uint64
	member             []trace.LocationID

	coordinateTopology []uint32
	coordinateLocation []trace.LocationID
	coordinateValue    []uint64
	axis               []int64

	callPathParent []trace.CallPathID
	callPathRegion []trace.RegionID
	callPathFlat   []uint8

	laneRow                    []uint64
	laneEnd                    []trace.Time
	laneCheckpoint, laneForest []uint64
	begin, duration, exclusive []trace.Time
	region                     []trace.RegionID
	parent                     []int32
	depth                      []uint16
	fact, instantFact          rowFacts
	callerRow, caller          []uint64
	coverLane                  []uint32
	coverRegion                []trace.RegionID
	coverBegin, coverEnd       []trace.Time

	instantLocation []trace.LocationID
	instantTime     []trace.Time
	instantRegion   []trace.RegionID
	textOffset      []uint64
	textBytes       []byte
	sampleTime      []trace.Time
	sampleValue     []float64

	link                 linkColumns
	blockBegin, blockEnd []trace.Time
	untimed              linkColumns

	profileLocation []trace.LocationID
	profilePath     []trace.CallPathID
	profileMetric   []trace.MetricID
	profileValue    [4][]float64 // calls, subcalls, inclusive, exclusive
	totalPath       []trace.CallPathID
	totalMetric     []trace.MetricID
	totalValue      [4][]float64 // as profileValue
	atomicLocation  []trace.LocationID
	atomicPath      []trace.CallPathID
	atomicMetric    []trace.MetricID
	atomicValue     [5][]float64 // count, min, max, mean, sum of squares
	momentLocation  []trace.LocationID
	momentRole      []trace.Role
	momentBegin     []trace.Time
	momentEnd       []trace.Time
	momentValue     [2][]float64 // weight, mean
	momentCentral   []float64    // MaxMoment+1 a row

	checkpointSum  []uint64
	checkpointBase []uint32
	sumRegion      []trace.RegionID
	sumValue       []trace.Time // three a row
	levelNode      []uint64
	nodeIndex      []int64
	nodeRow        []uint32
}

type definitionFacts struct {
	owner, key []uint32
	kind       []trace.ValueKind
	bits       []uint64
}

type rowFacts struct {
	row       []uint64
	attribute []trace.AttributeID
	kind      []trace.ValueKind
	bits      []uint64
}

type linkColumns struct {
	kind                     []trace.LinkKind
	fromLocation, toLocation []trace.LocationID
	fromTime, toTime         []trace.Time
	fromLane, fromRow        []int32
	toLane, toRow            []int32
	size, tag, count         []int64
	communicator             []trace.CommunicatorID
}

// A target takes the bytes of a file.
type target func([]byte)

func into[T any](p *[]T) target { return func(b []byte) { *p = viewOf[T](b) } }

// targets says where each file of the schema goes.
func (c *columns) targets() map[string]target {
	t := map[string]target{
		"string.offset.u64": into(&c.stringOffset), "string.bytes.u8": into(&c.stringBytes),
		"location.name.u32": into(&c.locationName), "location.kind.u32": into(&c.locationKind),
		"location.parent.u32": into(&c.locationParent), "location.last.u32": into(&c.locationLast),
		"location.level.u16": into(&c.locationLevel), "location.rank.i32": into(&c.locationRank),
		"location.lane.u32": into(&c.locationLane), "location.group.u64": into(&c.group),
		"location.group_level.u8": into(&c.groupLevel), "location.group_roles.u16": into(&c.groupRoles),
		"group.time.i64":  into(&c.groupTime),
		"region.name.u32": into(&c.regionName), "region.category.u32": into(&c.regionCategory),
		"region.role.u8": into(&c.regionRole), "region.file.u32": into(&c.regionFile), "region.line.i32": into(&c.regionLine),
		"attribute.name.u32":   into(&c.attributeName),
		"counter.location.u32": into(&c.counterLocation), "counter.name.u32": into(&c.counterName),
		"counter.unit.u32": into(&c.counterUnit), "counter.monotone.u8": into(&c.counterMonotone),
		"counter.first.u64": into(&c.counterFirst), "counter.count.u64": into(&c.counterCount),
		"communicator.name.u32": into(&c.communicatorName), "communicator.parent.u32": into(&c.communicatorParent),
		"communicator.member.u64": into(&c.communicatorMember), "member.location.u32": into(&c.member),
		"coordinate.topology.u32": into(&c.coordinateTopology), "coordinate.location.u32": into(&c.coordinateLocation),
		"coordinate.value.u64": into(&c.coordinateValue), "axis.value.i64": into(&c.axis),
		"callpath.parent.u32": into(&c.callPathParent), "callpath.region.u32": into(&c.callPathRegion), "callpath.flat.u8": into(&c.callPathFlat),
		"lane.row.u64": into(&c.laneRow), "lane.end.i64": into(&c.laneEnd),
		"lane.checkpoint.u64": into(&c.laneCheckpoint), "lane.forest.u64": into(&c.laneForest),
		"interval.begin.i64": into(&c.begin), "interval.duration.i64": into(&c.duration), "interval.exclusive.i64": into(&c.exclusive),
		"interval.region.u32": into(&c.region), "interval.parent.i32": into(&c.parent), "interval.depth.u16": into(&c.depth),
		"instant.location.u32": into(&c.instantLocation), "instant.time.i64": into(&c.instantTime), "instant.region.u32": into(&c.instantRegion),
		"caller.row.u64": into(&c.callerRow), "caller.caller.u64": into(&c.caller),
		"cover.lane.u32": into(&c.coverLane), "cover.region.u32": into(&c.coverRegion),
		"cover.begin.i64": into(&c.coverBegin), "cover.end.i64": into(&c.coverEnd),
		"text.offset.u64": into(&c.textOffset), "text.bytes.u8": into(&c.textBytes),
		"sample.time.i64": into(&c.sampleTime), "sample.value.f64": into(&c.sampleValue),
		"link_block.begin.i64": into(&c.blockBegin), "link_block.end.i64": into(&c.blockEnd),
		"checkpoint.sum.u64": into(&c.checkpointSum), "checkpoint.base.u32": into(&c.checkpointBase),
		"sum.region.u32": into(&c.sumRegion), "sum.value.i64": into(&c.sumValue),
		"level.node.u64": into(&c.levelNode), "node.index.i64": into(&c.nodeIndex), "node.row.u32": into(&c.nodeRow),
	}
	c.profileTargets(t)
	c.locationFact.targets(t, "location_fact.location")
	c.regionFact.targets(t, "region_fact.region")
	c.fact.targets(t, "interval_fact.")
	c.instantFact.targets(t, "instant_fact.")
	c.link.targets(t, "link.", true)
	c.untimed.targets(t, "untimed.", false)
	return t
}

func (c *columns) profileTargets(t map[string]target) {
	t["profile.location.u32"], t["profile.path.u32"], t["profile.metric.u32"] = into(&c.profileLocation), into(&c.profilePath), into(&c.profileMetric)
	t["profile_total.path.u32"], t["profile_total.metric.u32"] = into(&c.totalPath), into(&c.totalMetric)
	for i, n := range []string{"calls", "subcalls", "inclusive", "exclusive"} {
		t["profile."+n+".f64"], t["profile_total."+n+".f64"] = into(&c.profileValue[i]), into(&c.totalValue[i])
	}
	t["atomic.location.u32"], t["atomic.path.u32"], t["atomic.metric.u32"] = into(&c.atomicLocation), into(&c.atomicPath), into(&c.atomicMetric)
	for i, n := range []string{"count", "min", "max", "mean", "sum_squares"} {
		t["atomic."+n+".f64"] = into(&c.atomicValue[i])
	}
	t["moment.location.u32"], t["moment.role.u8"] = into(&c.momentLocation), into(&c.momentRole)
	t["moment.begin.i64"], t["moment.end.i64"] = into(&c.momentBegin), into(&c.momentEnd)
	t["moment.weight.f64"], t["moment.mean.f64"], t["moment.central.f64"] = into(&c.momentValue[0]), into(&c.momentValue[1]), into(&c.momentCentral)
}

func (f *definitionFacts) targets(t map[string]target, owner string) {
	table := owner[:len(owner)-len(filepath.Ext(owner))]
	t[owner+".u32"], t[table+".key.u32"] = into(&f.owner), into(&f.key)
	t[table+".kind.u8"], t[table+".bits.u64"] = into(&f.kind), into(&f.bits)
}

func (f *rowFacts) targets(t map[string]target, table string) {
	t[table+"row.u64"], t[table+"attribute.u32"] = into(&f.row), into(&f.attribute)
	t[table+"kind.u8"], t[table+"bits.u64"] = into(&f.kind), into(&f.bits)
}

func (l *linkColumns) targets(t map[string]target, table string, timed bool) {
	t[table+"kind.u8"], t[table+"from_location.u32"], t[table+"to_location.u32"] = into(&l.kind), into(&l.fromLocation), into(&l.toLocation)
	t[table+"size.i64"], t[table+"tag.i64"], t[table+"count.i64"] = into(&l.size), into(&l.tag), into(&l.count)
	t[table+"communicator.u32"] = into(&l.communicator)
	if timed {
		t[table+"from_time.i64"], t[table+"from_lane.i32"], t[table+"from_row.i32"] = into(&l.fromTime), into(&l.fromLane), into(&l.fromRow)
		t[table+"to_time.i64"], t[table+"to_lane.i32"], t[table+"to_row.i32"] = into(&l.toTime), into(&l.toLane), into(&l.toRow)
	}
}

// checkLengths makes sure that the columns of each table agree on how many rows
// there are. Sizes are those of the manifest.
func checkLengths(size func(file string) (int64, bool)) error {
	for _, t := range schema {
		rows := int64(-1)
		for i := range t.columns {
			c := &t.columns[i]
			n, ok := size(c.file())
			if !ok {
				return fmt.Errorf("%s is not in the manifest: %w", c.file(), ErrDamaged)
			}
			if n%c.width() != 0 {
				return fmt.Errorf("%s: %d bytes are no whole number of values: %w", c.file(), n, ErrDamaged)
			}
			n /= c.width()
			switch c.kind {
			case free:
				continue
			case offsets, withAll:
				n--
			}
			if rows >= 0 && n != rows || n < 0 {
				return fmt.Errorf("%s: %d rows, other columns of the table have %d: %w", c.file(), n, rows, ErrDamaged)
			}
			rows = n
		}
	}
	return nil
}
