// Package ghceventlog reads eventlogs of GHC's runtime (Haskell programs run with +RTS -l).
//
// The format, all of it big endian: a head with the types of events (number, size or "variable", description), then
// records of a type, a time in ns and, if it is variable, a size. A block marker says of which capability the events of
// the next bytes are. Types are told by the file, so that unknown ones can be passed over. Described in
// rts/eventlog/EventLogFormat.h of GHC.
//
//	capability                  thread: it runs one Haskell thread at a time
//	run thread, stop thread     interval "thread N"
//	GC                          interval, overhead
//	wake-up of a thread         wake link to where it runs next
//	user message, marker        instant with its text
//	other event                 instant named by its description
//
// Files that end in the middle of a record are common, and read up to there.
package ghceventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is GHC's eventlog.
var Format = &importer.Format{Name: "ghc-eventlog", Title: "GHC eventlogs (+RTS -l)",
	Claim:  importer.EachFile(func(head []byte) bool { return bytes.HasPrefix(head, []byte(begin)) }),
	Import: importer.OneFile(read)}

const (
	begin    = "hdrbhetb"
	typeMark = "etb\x00"
	typeEnd  = "ete\x00"
	headEnd  = "hetehdredatb"
	variable = 0xffff
	dataEnd  = 0xffff // type of the last record
	noCap    = 0xffff
)

// Types that are known.
const (
	runThread  = 1
	stopThread = 2
	wakeThread = 8
	beginGC    = 9
	endGC      = 10
	block      = 18
	logMessage = 16
	userText   = 19
	userMarker = 58
)

// A kind is a type of events.
type kind struct {
	size int // variable: the record says it
	name string
}

// A log is a file while it is read.
type log struct {
	w       trace.Writer
	in      *wire.Cursor
	kinds   map[uint16]kind
	process trace.LocationID
	rows    importer.Rows
	caps    map[uint16]*importer.Row
	regions map[string]trace.RegionID
	woken   map[uint32]trace.End
	text    trace.AttributeID
	cap     uint16
	until   int64 // byte at which the block ends
	events  int64
	odd     int64
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	l := &log{w: w, in: wire.From(in, 256<<10).Big(), kinds: map[uint16]kind{}, rows: importer.NewRows(w),
		caps: map[uint16]*importer.Row{}, regions: map[string]trace.RegionID{}, woken: map[uint32]trace.End{},
		text: w.Attribute("text"), cap: noCap}
	l.process = w.Location(importer.Process(path.Base(run.Name)))
	if err := l.head(); err != nil {
		return l.failure(ctx, label, err)
	}
	err := l.records(ctx)
	if failed := l.rows.Close(); err == nil {
		err = failed
	}
	if l.events == 0 && (err == nil || ctx.Err() != nil || isPacked(err)) {
		return l.failure(ctx, label, err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	importer.Tell(w, trace.MissingEvents, "events whose data does not fit their type", l.odd, label)
	if err != nil {
		w.Report(trace.MissingRest, "files that break off, read up to there", 1,
			fmt.Sprintf("%s: byte %d", label, l.in.Offset()))
	}
	return nil
}

func isPacked(err error) bool {
	var known *importer.Error
	return errors.As(err, &known)
}

func (l *log) failure(ctx context.Context, label string, err error) error {
	var known *importer.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		return known
	}
	return importer.Malformed(label, fmt.Sprintf("byte %d", l.in.Offset()), "holds no events of GHC that can be read")
}
