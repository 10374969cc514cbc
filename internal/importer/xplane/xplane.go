// Package xplane reads XPlane profiles, which the profilers of JAX, TensorFlow
// and PyTorch/XLA write as HOST.xplane.pb.
//
// The format: one protobuf message (tsl/profiler/protobuf/xplane.proto). A space has
// planes (a host, a device), a plane has lines (a thread, a stream), a line has events with
// an offset and a duration in picoseconds. Names of events and of their facts ("stats") are
// numbers into tables that stand behind the lines, so the file is read twice.
//
// Terms: host / process / thread for /host:CPU, and process / device / stream for
// /device:…; an event is an interval, or an instant where it has no duration. Lines of a
// device that repeat the time of others (steps, modules, name scopes) are annotations.
// Stats are attributes; a call of CUDA or HIP and the work of the same correlation id are
// linked, and so are producers and consumers (_p and _c). Times are rounded to nanoseconds,
// both ends alike, so nested intervals stay nested.
//
// Kept aside, and counted: events that are only totals, planes that hold tables (compiled
// modules, call stacks of scopes), and stats that are bytes.
package xplane

import (
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"google.golang.org/protobuf/encoding/protowire"
)

// Format is XPlane.
var Format = &importer.Format{Name: "xplane", Title: "XPlane profiles (JAX, TensorFlow, PyTorch/XLA)", Claim: claim,
	Import: read}

// claim takes files that are one space. Those of one session of the profiler
// (…/profile/TIME/HOST.xplane.pb) are one run, a file a host.
func claim(s importer.Source) []importer.Run {
	runs := importer.Together(s, func(file string, head []byte) (session string, claimed bool) {
		if dir := path.Dir(file); path.Base(path.Dir(dir)) == "profile" {
			session = dir
		}
		return session, isXPlane(file, head)
	})
	for i, r := range runs {
		if len(r.Files) > 1 {
			runs[i].Name = path.Base(path.Dir(r.Files[0]))
		}
		slices.Sort(r.Files)
	}
	return runs
}

// isXPlane: the first field is a plane, and a plane begins with its number or its name,
// which is that of a host, a device or a task.
func isXPlane(file string, head []byte) bool {
	d := decoder{wire.Of(head)}
	if field, kind := d.tag(); field != spacePlanes || kind != protowire.BytesType {
		return false
	}
	end := d.message(1 << 62)
	for i := 0; i < 4 && d.more(end); i++ {
		field, kind := d.tag()
		if field == planeName && kind == protowire.BytesType {
			text := string(d.bytes(end))
			return !d.Failed() && (strings.HasPrefix(text, "/host:") || strings.HasPrefix(text, "/device:") ||
				(text == "Task Environment" || strings.HasPrefix(text, "#Chip") || strings.HasPrefix(text, "/")) &&
					strings.HasSuffix(file, ".xplane.pb"))
		}
		if field != planeID {
			return false
		}
		d.skip(kind, end)
	}
	return false
}
