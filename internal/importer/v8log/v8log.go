// Package v8log reads the logs of V8: isolate-*-v8.log and v8.log of `node --prof` and d8, and the JSON that
// `node --prof-process --preprocess` makes of one.
//
// The format: a line a record, fields by commas (escaped inside a field), times in microseconds. Ticks have the
// program counter and the addresses of the frames; where code lies comes in between, and may be replaced or moved.
// The JSON has a list of code and ticks that name it. Described by V8's tools/tickprocessor.mjs and tools/profile.mjs.
//
//	tick                      sample on a row aside, and its time up to the next tick for its call path
//	code of a function        region with its file and line; the tiers that compiled it add up
//	address in a library      region with the name of the library: a log has no names of its functions
//	state GC                  innermost frame "(garbage collector)", overhead
//	timer-event               interval of a row "V8"
//	function (parse, compile) interval of a row "V8", of the length that the record says
//	code-deopt                instant with its reason
//
// Not read: strings of sources, maps and inline caches, which have no time that the program spent; they are counted.
package v8log

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"regexp"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of V8's logs.
var Format = &importer.Format{Name: "v8-log", Title: "V8 logs (node --prof, isolate-*-v8.log, --preprocess JSON)",
	Claim: importer.EachFile(isLog, isTicks), Import: importer.OneFile(read), Text: true}

func isLog(head []byte) bool { return bytes.HasPrefix(head, []byte("v8-version,")) }

var ticksHead = regexp.MustCompile(`^\s*\{\s*"code"\s*:\s*\[\s*\{\s*"name"`)

// isTicks: the JSON of --preprocess.
func isTicks(head []byte) bool { return ticksHead.Match(head) }

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	b := bufio.NewReaderSize(in, 4<<10)
	head, _ := b.Peek(4 << 10)
	c := newConverter(w, label, run.Name)
	var err error
	if isTicks(head) {
		j := &ticks{converter: c}
		j.Reader = jsonstream.NewReader(ctx, b, label,
			jsonstream.Reporter(w))
		err = j.End(j.Members(j.member), len(j.code), "code")
	} else {
		l := &logReader{converter: c}
		err = importer.Lines(ctx, b, label, w, l.line)
	}
	if failed := c.close(); err == nil {
		err = failed
	}
	if err == nil && c.records == 0 {
		return importer.Malformed(label, "", "holds no ticks and no timed events of V8")
	}
	return err
}
