// Package buildlog reads logs of builds: .ninja_log, and the JSON lines of BuildKit (docker buildx build
// --progress=rawjson).
//
// The formats: Ninja writes begin and end in milliseconds, the time of the file, the output and a hash of the command,
// by tabs; older builds stay in the file, so that the last line of an output counts, and lines with the same hash and
// times are one command. BuildKit writes objects with vertexes, each again and again as it is known better: a digest, a
// name, the digests of its inputs, begin and end.
//
//	command, vertex   interval; its row is the first that is free, so rows show vertexes that ran at once
//	input             flow link to the vertex that needs it
//
// Left out and counted: logs and progress of BuildKit; vertexes that were never begun.
package buildlog

import (
	"bytes"
	"context"
	"io"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of both.
var Format = &importer.Format{Name: "buildlog", Title: "build logs (.ninja_log, BuildKit's rawjson)", Text: true,
	Claim: importer.EachFile(isNinja, isBuildKit), Import: importer.OneFile(read)}

func isNinja(head []byte) bool { return bytes.HasPrefix(head, []byte("# ninja log v")) }

func isBuildKit(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return bytes.HasPrefix(line, []byte(`{"vertexes":[{"digest":`))
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	l := &log{w: w, label: label, steps: map[string]*step{}}
	take := l.ninja
	if isBuildKit(run.Source.Head(run.Files[0])) {
		take = l.buildKit
	}
	if err := importer.Lines(ctx, in, label, w, take); err != nil {
		return err
	}
	if len(l.order) == 0 {
		return importer.Malformed(label, "", "holds no steps of a build")
	}
	return l.write(path.Base(run.Name))
}
