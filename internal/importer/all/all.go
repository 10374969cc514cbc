// Package all lists the formats, in the order in which they are asked which
// files are theirs. A new format is one line here.
package all

import (
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/caliper"
	"github.com/parallax-hpc/parallax/internal/importer/callgrind"
	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/importer/collapsed"
	"github.com/parallax-hpc/parallax/internal/importer/cpuprofile"
	"github.com/parallax-hpc/parallax/internal/importer/ctf"
	"github.com/parallax-hpc/parallax/internal/importer/cube"
	"github.com/parallax-hpc/parallax/internal/importer/darshan"
	"github.com/parallax-hpc/parallax/internal/importer/dumpi"
	"github.com/parallax-hpc/parallax/internal/importer/firefox"
	"github.com/parallax-hpc/parallax/internal/importer/ftrace"
	"github.com/parallax-hpc/parallax/internal/importer/ghcprof"
	"github.com/parallax-hpc/parallax/internal/importer/gotrace"
	"github.com/parallax-hpc/parallax/internal/importer/gprof"
	"github.com/parallax-hpc/parallax/internal/importer/graintable"
	"github.com/parallax-hpc/parallax/internal/importer/hpctoolkit"
	"github.com/parallax-hpc/parallax/internal/importer/importtime"
	"github.com/parallax-hpc/parallax/internal/importer/instruments"
	"github.com/parallax-hpc/parallax/internal/importer/jaeger"
	"github.com/parallax-hpc/parallax/internal/importer/jfr"
	"github.com/parallax-hpc/parallax/internal/importer/mpe"
	"github.com/parallax-hpc/parallax/internal/importer/nsight"
	"github.com/parallax-hpc/parallax/internal/importer/otf2"
	"github.com/parallax-hpc/parallax/internal/importer/otlp"
	"github.com/parallax-hpc/parallax/internal/importer/paje"
	"github.com/parallax-hpc/parallax/internal/importer/pajecsv"
	"github.com/parallax-hpc/parallax/internal/importer/paraver"
	"github.com/parallax-hpc/parallax/internal/importer/perfetto"
	"github.com/parallax-hpc/parallax/internal/importer/perfscript"
	"github.com/parallax-hpc/parallax/internal/importer/pprof"
	"github.com/parallax-hpc/parallax/internal/importer/projections"
	"github.com/parallax-hpc/parallax/internal/importer/pstats"
	"github.com/parallax-hpc/parallax/internal/importer/pyinstrument"
	"github.com/parallax-hpc/parallax/internal/importer/recognised"
	"github.com/parallax-hpc/parallax/internal/importer/recorder"
	"github.com/parallax-hpc/parallax/internal/importer/rocprof"
	"github.com/parallax-hpc/parallax/internal/importer/speedscope"
	"github.com/parallax-hpc/parallax/internal/importer/stackprof"
	"github.com/parallax-hpc/parallax/internal/importer/strace"
	"github.com/parallax-hpc/parallax/internal/importer/tables"
	"github.com/parallax-hpc/parallax/internal/importer/tau"
	"github.com/parallax-hpc/parallax/internal/importer/tautrace"
	"github.com/parallax-hpc/parallax/internal/importer/vista"
	"github.com/parallax-hpc/parallax/internal/importer/xplane"
	"github.com/parallax-hpc/parallax/internal/importer/zipkin"
)

// Formats are asked from first to last; a file belongs to the first that claims
// it. Those that are only recognised come last.
var Formats = append([]*importer.Format{
	tables.Format,
	chrometrace.Format,
	otf2.Format,
	paje.Format,
	pajecsv.Format,
	paraver.Format,
	tau.Format,
	cube.Format,
	vista.Format,
	recorder.Format,
	gotrace.Format,
	zipkin.Format,
	jaeger.Format,
	otlp.Format,
	graintable.Format,
	perfetto.Format,
	pprof.Format,
	perfscript.Format,
	collapsed.Format,
	nsight.Format,
	xplane.Format,
	rocprof.Format,
	caliper.Format,
	projections.Format,
	hpctoolkit.Format,
	darshan.Format,
	speedscope.Format,
	cpuprofile.Format,
	firefox.Format,
	callgrind.Format,
	jfr.Format,
	gprof.Format,
	ftrace.Format,
	pstats.Format,
	pyinstrument.Format,
	importtime.Format,
	ghcprof.Format,
	stackprof.Format,
	strace.Format,
	instruments.Format,
	ctf.Format,
	tautrace.Format,
	mpe.Format,
	dumpi.Format,
}, recognised.Formats...)
