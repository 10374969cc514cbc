package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/words"
)

// Uploads are files dropped on the page, streamed to disk. Those of one batch are in one directory, so that an
// archive of many files can be dropped as a whole.
type uploads struct {
	parent string
	limit  int64
	share  int64 // of limit, that one holder may use

	mu      sync.Mutex
	dir     string            // made at the first upload
	bytes   int64             // of all files on disk
	used    map[string]int64  // bytes by holder
	holder  map[string]string // of each directory
	batches map[batchID]*batch
}

// newUploads gives one holder among others half of the space, and a holder alone all of it.
func newUploads(parent string, limit int64, several bool) *uploads {
	u := &uploads{parent: parent, limit: limit, share: limit, used: map[string]int64{}, holder: map[string]string{},
		batches: map[batchID]*batch{}}
	if several {
		u.share = limit / 2
	}
	return u
}

// A batchID names a batch: the holder who sends it, and the name that the holder chose. So holders can neither add to
// a batch of others nor open it.
type batchID struct{ holder, name string }

// A batch is one directory of uploaded files.
type batch struct {
	dir    string
	holder string
	files  int
}

const (
	maxBatchFiles = 100_000
	maxNameLength = 1024
	// idleUpload is how long an upload may stand still.
	idleUpload = time.Minute
)

// upload streams one file to disk. Without a batch it is opened at once; with
// one it waits for POST /api/runs {"batch": …}.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) error {
	if s.config.Open == nil {
		return errNoOpener
	}
	name, id := r.URL.Query().Get("name"), r.URL.Query().Get("batch")
	if err := checkName(name); err != nil {
		return err
	}
	alone := id == ""
	if alone {
		id = newToken()
	} else if len(id) > 100 {
		return usage(errors.New("batch: want a name of at most 100 letters"))
	}
	own := batchID{holderOf(r).Name, id}
	b, err := s.uploads.batch(own)
	if err != nil {
		return err
	}
	noteOpened(w, []string{"upload:" + name})
	if err := s.uploads.receive(w, r, b, name); err != nil {
		if alone {
			s.uploads.take(own)
			s.uploads.remove(b.dir)
		}
		return err
	}
	if !alone {
		return s.writeJSON(w, r, http.StatusCreated, map[string]any{"batch": id, "name": name})
	}
	s.uploads.take(own)
	x, err := s.runs.open(&run{sources: []string{filepath.Join(b.dir, filepath.FromSlash(name))}, upload: b.dir,
		owner: holderOf(r).Name}, path.Base(name))
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusAccepted, s.states(holderOf(r), x))
}

// checkName refuses names that would not stay in their directory.
func checkName(name string) error {
	if name == "" || len(name) > maxNameLength || strings.ContainsAny(name, "\\\x00") ||
		!filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name || name == "." {
		return usage(fmt.Errorf("name %s: want a relative path without . and ..", quoteShort(name)))
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 {
			return usage(errors.New("name: a part is longer than 255 bytes"))
		}
	}
	return nil
}

// batch finds a batch or makes its directory.
func (u *uploads) batch(id batchID) (*batch, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if b := u.batches[id]; b != nil {
		return b, nil
	}
	waiting := 0
	for other := range u.batches {
		if other.holder == id.holder {
			waiting++
		}
	}
	if waiting >= maxOwnRuns {
		return nil, errQuota
	}
	if len(u.batches) >= maxRuns {
		return nil, errUploadsFull
	}
	if u.dir == "" {
		dir, err := os.MkdirTemp(u.parent, "parallax-upload-")
		if err != nil {
			return nil, fmt.Errorf("upload: %w", err)
		}
		u.dir = dir
	}
	dir, err := os.MkdirTemp(u.dir, "")
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	b := &batch{dir: dir, holder: id.holder}
	u.batches[id], u.holder[dir] = b, id.holder
	return b, nil
}

var errUploadsFull = &apiError{Status: http.StatusRequestEntityTooLarge, Kind: "too-large",
	Message: "the uploads take more disk space than this server allows",
	Hint:    "close runs that were uploaded, or copy the files yourself and open them by path"}

var errQuota = &apiError{Status: http.StatusRequestEntityTooLarge, Kind: "too-large",
	Message: "your uploads take your share of this server's space",
	Hint:    "close runs that you uploaded, or copy the files yourself and open them by path"}

// receive writes the body to a file of the batch: under os.Root, so that no name
// and no link leads outside.
func (u *uploads) receive(w http.ResponseWriter, r *http.Request, b *batch, name string) (err error) {
	u.mu.Lock()
	b.files++
	full := u.full(b, max(r.ContentLength, 0))
	if b.files > maxBatchFiles {
		full = errUploadsFull
	}
	u.mu.Unlock()
	if full != nil {
		return full
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usage(fmt.Errorf("name %s was uploaded already", quoteShort(name)))
	}
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	return u.copy(f, r.Body, b, http.NewResponseController(w))
}

// copy moves the body to the file in pieces; each piece renews the deadline.
func (u *uploads) copy(f io.Writer, body io.Reader, b *batch, control *http.ResponseController) error {
	buf := make([]byte, 256<<10)
	for {
		control.SetReadDeadline(time.Now().Add(idleUpload))
		n, err := body.Read(buf)
		if n > 0 {
			if err := u.count(b, int64(n)); err != nil {
				return err
			}
			if _, werr := f.Write(buf[:n]); errors.Is(werr, syscall.ENOSPC) {
				return &apiError{Status: http.StatusInsufficientStorage, Kind: "too-large", Message: "the disk is full",
					Hint: "set another directory for temporary files with TMPDIR"}
			} else if werr != nil {
				return fmt.Errorf("upload: %w", werr)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("upload: %w", err)
		}
	}
}

// full returns the error of n more bytes for which there is no space.
func (u *uploads) full(b *batch, n int64) error {
	switch {
	case n > u.limit-u.bytes:
		return errUploadsFull
	case n > u.share-u.used[b.holder]:
		return errQuota
	}
	return nil
}

// count takes space for n bytes.
func (u *uploads) count(b *batch, n int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.full(b, n); err != nil {
		return err
	}
	u.bytes += n
	u.used[b.holder] += n
	return nil
}

// take passes on a batch: its directory now belongs to a run.
func (u *uploads) take(id batchID) *batch {
	u.mu.Lock()
	defer u.mu.Unlock()
	b := u.batches[id]
	delete(u.batches, id)
	return b
}

// remove deletes an upload's directory and gives its room back.
func (u *uploads) remove(dir string) {
	var size int64
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if i, err := d.Info(); err == nil {
				size += i.Size()
			}
		}
		return nil
	})
	os.RemoveAll(dir)
	u.mu.Lock()
	defer u.mu.Unlock()
	who := u.holder[dir]
	u.bytes, u.used[who] = max(u.bytes-size, 0), max(u.used[who]-size, 0)
	delete(u.holder, dir)
}

func (u *uploads) removeAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dir != "" {
		os.RemoveAll(u.dir)
		u.dir = ""
	}
}

var errNoOpener = &apiError{Status: http.StatusNotFound, Kind: "unsupported",
	Message: "this server does not open further runs"}

// An openRequest is the body of POST /api/runs.
type openRequest struct {
	Sources []string `json:"sources"`
	// Batch opens the directory of an upload instead.
	Batch string `json:"batch"`
	// Name for people; empty: made from the source.
	Name string `json:"name"`
	// Like opens the sources of an open run once more, with its clocks fitted as Align says: messages or collectives.
	Like  string `json:"like"`
	Align string `json:"align"`
	// Format is the only one to read the sources as; Join says that they are one run.
	Format string `json:"format"`
	Join   bool   `json:"join"`
	// SourceDirs hold the program's source.
	SourceDirs []string `json:"sourceDirs"`
	// Readers are the holders who may see the run beside who opens it; none: all.
	Readers []string `json:"readers"`
}

// wantJSON refuses bodies that a form of another page could send.
func wantJSON(r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &apiError{Status: http.StatusUnsupportedMediaType, Kind: "usage",
			Message: "the Content-Type of the body is not JSON", Hint: "send Content-Type: application/json"}
	}
	return nil
}

// openRuns starts an import of paths, demo:NAME or an uploaded batch.
func (s *Server) openRuns(w http.ResponseWriter, r *http.Request) error {
	if s.config.Open == nil {
		return errNoOpener
	}
	var q openRequest
	if err := wantJSON(r); err != nil {
		return err
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return usage(fmt.Errorf(`body: %w; want {"sources": ["path or demo:NAME"]}`, err))
	}
	noteOpened(w, q.Sources)
	x, err := s.openAsked(holderOf(r), &q)
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusAccepted, s.states(holderOf(r), x))
}

func (s *Server) openAsked(by *Token, q *openRequest) (*run, error) {
	if q.Like != "" || q.Align != "" && len(q.Sources) == 0 {
		return s.openFitted(by, q)
	}
	if err := s.checkReading(q); err != nil {
		return nil, usage(err)
	}
	for _, dir := range q.SourceDirs {
		if err := s.confined(dir); err != nil {
			return nil, err
		}
	}
	if q.Batch != "" {
		b := s.uploads.take(batchID{by.Name, q.Batch})
		if b == nil {
			return nil, usage(fmt.Errorf("batch %s: nothing was uploaded under it", quoteShort(q.Batch)))
		}
		source, name := b.only()
		if q.Name != "" {
			name = q.Name
		}
		return s.runs.open(&run{sources: []string{source}, upload: b.dir, owner: by.Name, readers: q.Readers}, name)
	}
	if len(q.Sources) == 0 || len(q.Sources) > maxPatterns {
		return nil, usage(fmt.Errorf("sources: %d given, want 1 to %d", len(q.Sources), maxPatterns))
	}
	for _, src := range q.Sources {
		if strings.TrimSpace(src) == "" || len(src) > 4096 || strings.ContainsRune(src, 0) {
			return nil, usage(errors.New("sources: want paths or demo:NAME"))
		}
		if err := s.confined(src); err != nil {
			return nil, err
		}
	}
	name := q.Name
	if name == "" {
		name = path.Base(filepath.ToSlash(strings.TrimPrefix(q.Sources[0], "demo:")))
	}
	return s.runs.open(&run{sources: q.Sources, align: q.Align, format: q.Format, join: q.Join,
		sourceDirs: q.SourceDirs, named: q.Name != "", owner: by.Name, readers: q.Readers}, name)
}

// checkReading returns an error if the options for reading the sources are invalid.
func (s *Server) checkReading(q *openRequest) error {
	if !slices.Contains([]string{"", "auto", "none", "messages", "collectives"}, q.Align) {
		return words.NotOneOf("align", q.Align, "auto", "none", "messages", "collectives")
	}
	if q.Format != "" {
		var names []string
		for _, f := range s.config.Formats {
			names = append(names, f.Name)
		}
		if !slices.Contains(names, q.Format) {
			return fmt.Errorf("format %s: no such format; `parallax formats` lists them%s", quoteShort(q.Format),
				words.Suggest(q.Format, names))
		}
	}
	if len(q.SourceDirs) > maxPatterns {
		return tooMany("sourceDirs", len(q.SourceDirs))
	}
	return nil
}

// openFitted opens the sources of a run once more, with clocks that agree.
func (s *Server) openFitted(by *Token, q *openRequest) (*run, error) {
	names := map[string]string{"messages": "clocks fitted", "collectives": "clocks fitted",
		"none": "clocks as recorded"}
	if names[q.Align] == "" || len(q.Sources) > 0 || q.Batch != "" {
		return nil, usage(errors.New(
			`body: want {"like": RUN, "align": "messages", "collectives" or "none"}, and no sources`))
	}
	x, err := s.runs.use(by, q.Like)
	if err != nil {
		return nil, err
	}
	defer x.release()
	name := q.Name
	if name == "" {
		name = x.Run.Name + ", " + names[q.Align]
	}
	return s.runs.open(&run{sources: x.sources, beside: cmp.Or(x.upload, x.beside), align: q.Align, named: true,
		mustFit: q.Align != "none", format: x.format, join: x.join, sourceDirs: x.sourceDirs,
		owner: by.Name, readers: x.readers}, name)
}

// only returns the source to open in a batch, with a name for people: the one file or directory at its top, else the
// batch's own directory.
func (b *batch) only() (source, name string) {
	list, err := os.ReadDir(b.dir)
	if err == nil && len(list) == 1 {
		return filepath.Join(b.dir, list[0].Name()), list[0].Name()
	}
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return b.dir, nameOf(names)
}

// nameOf names files that were chosen together: by the common prefix of their names if that is telling, else by the
// first of them.
func nameOf(names []string) string {
	if len(names) == 0 {
		return "upload"
	}
	common := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, common) {
			_, size := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-size]
		}
	}
	common = strings.TrimRight(common, "0123456789")
	common = strings.TrimRight(common, "-_. ([")
	if utf8.RuneCountInString(common) < 3 {
		common = names[0]
	}
	return fmt.Sprintf("%s, %d files", common, len(names))
}
