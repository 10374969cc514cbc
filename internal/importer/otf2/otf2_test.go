package otf2

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "ping-pong-2ranks", Guarded: true},
		{Path: "records", Guarded: true},
	})
}
