package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	sourceAround = 24      // lines shown before and after
	maxSourceLen = 8 << 20 // bytes of a source file
	maxLineLen   = 400     // characters of a line
)

// A sourceText is a stretch of a source file.
type sourceText struct {
	File  string   `json:"file"`
	Line  int      `json:"line"`
	First int      `json:"first"` // number of the first line given
	Lines []string `json:"lines"`
	// Found is the path of the file that is shown, whose end is that of File; Note is a warning about it, or empty.
	Found string `json:"found"`
	Note  string `json:"note"`
}

// source answers with the text around a region's place in its program, where the file is
// at hand: below the directory of the run or one that the user named. Names in
// traces are untrusted, so no other file is ever opened.
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
	f, found, err := s.files.find(r.Context(), s.sourceRoots(x), g.File)
	if several := (ambiguity{}); errors.As(err, &several) {
		return noSource("%v", several)
	}
	if err != nil {
		return noSource("%s is not at hand", g.File)
	}
	defer f.Close()
	text, err := readAround(f, g.Line)
	if err != nil {
		return noSource("%s: %v", g.File, err)
	}
	text.File, text.Found = g.File, found.shown()
	if found.common == 1 && len(pathParts(g.File)) > 1 {
		text.Note = "found by its name alone: perhaps another file"
	}
	return s.writeJSON(w, r, http.StatusOK, text)
}

func noSource(format string, args ...any) error {
	return &apiError{Status: http.StatusNotFound, Kind: "no-source", Message: fmt.Sprintf(format, args...),
		Hint: "name the directory of the program's source: parallax open --source DIR"}
}

// sourceRoots returns the directories in which files may be opened.
func (s *runPages) sourceRoots(x *run) []string {
	roots := append(slices.Clone(x.sourceDirs), s.config.SourceDirs...)
	if x.upload != "" {
		return roots
	}
	for _, path := range x.sources {
		if i, err := os.Stat(path); err == nil && !i.IsDir() {
			path = filepath.Dir(path)
		} else if err != nil {
			continue
		}
		roots = append(roots, path)
	}
	return roots
}

// readAround reads the lines around one; a file that is not text is refused.
func readAround(r io.Reader, line int) (*sourceText, error) {
	line = max(line, 1)
	t := &sourceText{Line: line, First: max(1, line-sourceAround), Lines: []string{}}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxSourceLen)
	for n := 1; in.Scan() && n <= line+sourceAround; n++ {
		if n < t.First {
			continue
		}
		text := in.Text()
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, errors.New("is not text")
		}
		if utf8.RuneCountInString(text) > maxLineLen {
			text = string([]rune(text)[:maxLineLen]) + "…"
		}
		t.Lines = append(t.Lines, text)
	}
	if len(t.Lines) == 0 {
		return nil, fmt.Errorf("has no line %d", line)
	}
	return t, in.Err()
}
