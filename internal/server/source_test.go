package server

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/sourcefile"
)

func TestTheLinesAroundAPlace(t *testing.T) {
	text := strings.Split(strings.Repeat("x\n", 99)+"here\n"+strings.Repeat("y\n", 99)+"y", "\n")
	got, err := around(&sourcefile.File{Lines: text}, 100)
	if err != nil || got.First != 76 || len(got.Lines) != 49 || got.Lines[24] != "here" {
		t.Errorf("first %d, %d lines, %v", got.First, len(got.Lines), err)
	}
	if _, err := around(&sourcefile.File{Lines: []string{"a", "b"}}, 90); err == nil {
		t.Error("a line that the file does not have is given")
	}
}
