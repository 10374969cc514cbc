// Package python holds the Python module that asks this program: one file, which `parallax python` writes and the
// release puts into wheels.
package python

import _ "embed"

// Module is the text of parallax.py.
//
//go:embed parallax.py
var Module []byte
