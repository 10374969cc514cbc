package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A note is a word at a time, or over a range of it.
type note struct {
	Name  string     `json:"name"`
	Begin trace.Time `json:"begin"`
	End   trace.Time `json:"end"` // that of Begin: a flag
	Text  string     `json:"text"`
	// Locations it is about, by path; none: all.
	Locations []string `json:"locations"`
}

// A workspace is a named state of the page, as its address has it.
type workspace struct {
	Name  string `json:"name"`
	Query string `json:"query"`
}

// A story is a walk through states of the page, with a sentence at each.
type story struct {
	Name  string      `json:"name"`
	Stops []storyStop `json:"stops"`
}

type storyStop struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	Query string `json:"query"` // State of the page, as its address has it.
}

// notesJSON answers GET and PUT /api/runs/{run}/notes, the notes stored with a run.
type notesJSON struct {
	// Version grows with every change: who writes says which one is known.
	Version    int64       `json:"version"`
	Notes      []note      `json:"notes"`
	Workspaces []workspace `json:"workspaces"`
	Stories    []story     `json:"stories"`
}

func noNotes() notesJSON {
	return notesJSON{Notes: []note{}, Workspaces: []workspace{}, Stories: []story{}}
}

// Bounds of the notes of a run.
const (
	mostNotes   = 500
	mostStories = 100
	mostStops   = 50
	longestName = 200
	longestText = 10_000
)

func (n *notesJSON) check(end trace.Time) error {
	if len(n.Notes) > mostNotes || len(n.Workspaces) > mostNotes {
		return fmt.Errorf("want at most %d notes, and as many workspaces", mostNotes)
	}
	for i := range n.Notes {
		x := &n.Notes[i]
		switch {
		case strings.TrimSpace(x.Name) == "" || len(x.Name) > longestName || len(x.Text) > longestText ||
			len(x.Locations) > maxPatterns:
			return fmt.Errorf("note %d: want a name of at most %d letters, and at most %d of text", i+1, longestName,
				longestText)
		case x.Begin < 0 || x.End < x.Begin || x.End > end:
			return fmt.Errorf("note %d: want a time of the run, from 0 to %d ns", i+1, end)
		}
		if x.Locations == nil {
			x.Locations = []string{}
		}
	}
	for i, x := range n.Workspaces {
		if strings.TrimSpace(x.Name) == "" || len(x.Name) > longestName || len(x.Query) > maxQuery/4 {
			return fmt.Errorf("workspace %d: want a name of at most %d letters", i+1, longestName)
		}
	}
	if len(n.Stories) > mostStories {
		return fmt.Errorf("want at most %d stories", mostStories)
	}
	for i := range n.Stories {
		if err := n.Stories[i].check(); err != nil {
			return fmt.Errorf("story %d: %w", i+1, err)
		}
	}
	if n.Stories == nil {
		n.Stories = []story{}
	}
	return nil
}

func (s *story) check() error {
	if strings.TrimSpace(s.Name) == "" || len(s.Name) > longestName || len(s.Stops) > mostStops {
		return fmt.Errorf("want a name of at most %d letters, and at most %d stops", longestName, mostStops)
	}
	for i, x := range s.Stops {
		if len(x.Title) > longestName || len(x.Text) > longestText || len(x.Query) > maxQuery/4 {
			return fmt.Errorf("stop %d: want a title of at most %d letters, and at most %d of text", i+1, longestName,
				longestText)
		}
	}
	if s.Stops == nil {
		s.Stops = []storyStop{}
	}
	return nil
}

// notesMutex is held while notes are changed: files are small, and changes rare.
var notesMutex sync.Mutex

// notesFile returns the path of a run's notes: by its source, so that they are there when
// it is opened again.
func (s *runPages) notesFile(x *run) string {
	source := x.Source
	if abs, err := filepath.Abs(source); err == nil && !strings.Contains(source, ":") { // not demo:NAME, nor an address
		source = abs
	}
	sum := sha256.Sum256([]byte(source))
	return filepath.Join(s.config.NotesDir, hex.EncodeToString(sum[:12])+".json")
}

func (s *runPages) readNotes(x *run) (n notesJSON, err error) {
	n = noNotes()
	if s.config.NotesDir == "" {
		return n, nil
	}
	b, err := os.ReadFile(s.notesFile(x))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return n, fmt.Errorf("the notes of this run cannot be read: %s: %w", s.notesFile(x), err)
	}
	return n, nil
}

func (s *runPages) notes(w http.ResponseWriter, r *http.Request, x *run) error {
	n, err := s.readNotes(x)
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, n)
}

func (s *runPages) keepNotes(w http.ResponseWriter, r *http.Request, x *run) error {
	if s.config.NotesDir == "" {
		return &apiError{Status: http.StatusNotFound, Kind: "unsupported", Message: "this server keeps no notes"}
	}
	n := noNotes()
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&n); err != nil {
		return usage(fmt.Errorf("the body: %w", err))
	}
	if err := n.check(x.Store.Info().End); err != nil {
		return usage(err)
	}
	notesMutex.Lock()
	defer notesMutex.Unlock()
	before, err := s.readNotes(x)
	if err != nil {
		return err
	}
	if before.Version != n.Version {
		return &apiError{Status: http.StatusConflict, Kind: "failed", Message: "another person changed these notes",
			Hint: "read them again"}
	}
	n.Version++
	if err := writeWhole(s.notesFile(x), n); err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, n)
}

// writeWhole writes a file under another name first: a killed program leaves the old one.
func writeWhole(name string, value any) error {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".notes-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
