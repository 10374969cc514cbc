// Package all lists the formats, in the order in which they are asked which
// files are theirs. A new format is one line here.
package all

import (
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/importer/paje"
	"github.com/parallax-hpc/parallax/internal/importer/recognised"
	"github.com/parallax-hpc/parallax/internal/importer/tau"
)

// Formats are asked from first to last; a file belongs to the first that claims
// it. Those that are only recognised come last.
var Formats = append([]*importer.Format{
	chrometrace.Format,
	paje.Format,
	tau.Format,
}, recognised.Formats...)
