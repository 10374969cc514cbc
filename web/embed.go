// Package web holds the built page. Its source is in src; dist is committed with
// fixed names, and the build proves that it is made from src.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files are the files of the page, index.html at the top.
func Files() fs.FS {
	f, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the directory is part of the binary
	}
	return f
}
