package store

import "github.com/parallax-hpc/parallax/internal/trace"

// FileOfLine returns the source file of a line row.
func FileOfLine(r Reader, row *trace.LineRow) string {
	if row.File != trace.NoFile {
		return r.SourceFiles()[row.File]
	}
	return r.Regions()[r.CallPaths()[row.Path].Region].File
}
