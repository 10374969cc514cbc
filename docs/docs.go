// Package docs holds the documents that programs are given beside answers.
package docs

import "embed"

// Files are the documents by name.
//
//go:embed tables.md queries.md findings.md contrast.md glossary.md
var Files embed.FS
