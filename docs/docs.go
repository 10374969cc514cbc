// Package docs holds the documents: those that programs are given beside answers, and
// all of them for the site inside the binary.
package docs

import "embed"

// Files are the documents for programs, by name.
//
//go:embed tables.md queries.md findings.md contrast.md glossary.md
var Files embed.FS

// Site is everything that the site shows.
//
//go:embed *.md guides formats/*.md papers/*.md tutorials/*.md tutorials/*.ipynb tutorials/pictures
//go:embed tutorials/data/README.md tutorials/data/nodes.txt tutorials/data/ride.json tutorials/data/tally/main.go.txt
//go:embed kaleidoscope layouts moments recorder schemas
var Site embed.FS

// TutorialData are the files that the commands of tutorials read.
//
//go:embed tutorials/data
var TutorialData embed.FS
