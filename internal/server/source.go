package server

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/sourcefile"
)

// sourceAround is the number of lines that are given before and after the place.
const sourceAround = 24

// A sourceText is a part of a source file.
type sourceText struct {
	File  string   `json:"file"`
	Line  int      `json:"line"`
	First int      `json:"first"` // number of the first line given
	Lines []string `json:"lines"`
	// Found is the path of the file that is shown, whose end is that of File; Note is a warning about it, or empty.
	Found string `json:"found"`
	Note  string `json:"note"`
}

// source answers with the text around a region's place in its program, if the file is below a directory that the user
// named. The view source has the values of the lines too.
func (s *runPages) source(w http.ResponseWriter, r *http.Request, x *run) error {
	id, err := strconv.Atoi(r.URL.Query().Get("region"))
	regions := x.Store.Regions()
	if err != nil || id < 0 || id >= len(regions) {
		return &apiError{Status: http.StatusBadRequest, Kind: "bad-request", Message: "region: want the id of a region"}
	}
	g := &regions[id]
	if g.File == "" {
		return noSource("the trace does not say where %s is", g.Name)
	}
	f, err := x.Run.Sources.Read(r.Context(), g.File)
	if err != nil {
		return noSource("%s %v", g.File, err)
	}
	text, err := around(f, g.Line)
	if err != nil {
		return noSource("%s %v", g.File, err)
	}
	text.File = g.File
	return s.writeJSON(w, r, http.StatusOK, text)
}

func noSource(format string, args ...any) error {
	return &apiError{Status: http.StatusNotFound, Kind: "no-source", Message: fmt.Sprintf(format, args...),
		Hint: "name the directory of the program's source: parallax open --source DIR"}
}

// around returns the lines around one.
func around(f *sourcefile.File, line int) (*sourceText, error) {
	line = max(line, 1)
	if line > len(f.Lines) {
		return nil, fmt.Errorf("has no line %d", line)
	}
	first := max(1, line-sourceAround)
	t := &sourceText{Line: line, First: first, Found: f.Shown,
		Lines: f.Lines[first-1 : min(line+sourceAround, len(f.Lines))]}
	if f.ByName {
		t.Note = "found by its name alone: perhaps another file"
	}
	return t, nil
}
