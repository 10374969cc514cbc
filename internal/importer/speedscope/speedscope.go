// Package speedscope reads speedscope's own files: those that py-spy, rbspy, stackprof,
// dotnet-trace, GHC and others write for it, and those that it saves itself.
//
// The format (speedscope.app/file-format-schema.json): an object with frames under `shared` and a list
// of profiles. An evented profile opens and closes frames at points of its unit; a sampled one lists
// stacks, outermost first, with a weight each.
//
// Terms: a profile is a thread of the file's process. Events in a unit of time are intervals.
// Samples are a profile (call paths with their weights), and, where their weights are time, rows
// of samples over time, which count nowhere. Events in another unit are a profile, too.
//
// Profiles may come before the frames they name, so the file is read twice.
package speedscope

import (
	"bytes"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is speedscope's.
var Format = &importer.Format{Name: "speedscope", Title: "speedscope files (py-spy, rbspy, dotnet-trace, …)",
	Claim: importer.EachFile(isSpeedscope), Import: read}

// isSpeedscope: the schema's address, or the three members that make a file.
func isSpeedscope(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{")) {
		return false
	}
	return bytes.Contains(head, []byte("speedscope.app/file-format-schema")) ||
		bytes.Contains(head, []byte(`"shared"`)) && bytes.Contains(head, []byte(`"frames"`)) &&
			bytes.Contains(head, []byte(`"profiles"`)) && bytes.Contains(head, []byte(`"unit"`))
}
