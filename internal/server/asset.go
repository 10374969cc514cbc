package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// The assets are the files of the page, packed once at the start. Their names are
// fixed, so each carries an ETag and is asked for again at every load.
type assets struct{ files map[string]*asset }

type asset struct {
	contentType  string
	etag         string
	plain, gzip_ []byte // gzip_ is nil where packing gains nothing
}

func loadAssets(f fs.FS) (*assets, error) {
	a := &assets{files: map[string]*asset{}}
	if f == nil {
		return a, nil
	}
	err := fs.WalkDir(f, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(f, name)
		if err != nil {
			return err
		}
		a.files["/"+name] = newAsset(name, b)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the page's files: %w", err)
	}
	return a, nil
}

func newAsset(name string, b []byte) *asset {
	sum := sha256.Sum256(b)
	out := &asset{contentType: typeOf(name), etag: base64.RawURLEncoding.EncodeToString(sum[:12]), plain: b}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	w.Write(b)
	w.Close()
	if packed.Len() < len(b)*9/10 {
		out.gzip_ = packed.Bytes()
	}
	return out
}

// typeOf does not trust the machine's own table for the types of the page's files.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}

// ServeHTTP serves a file. The page keeps its state in the query, so "/" alone is
// the page; other unknown paths are not found.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	f := a.files[name]
	if f == nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	body, etag, h := f.plain, `"`+f.etag+`"`, w.Header()
	h.Set("Vary", "Accept-Encoding")
	if f.gzip_ != nil && accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		body, etag = f.gzip_, `"`+f.etag+`-gz"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "no-cache") // keep it, but ask
	h.Set("ETag", etag)
	if matches(r.Header.Get("If-None-Match"), etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		w.Write(body)
	}
}

// matches reads an If-None-Match header.
func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if t := strings.TrimSpace(part); t == "*" || strings.TrimPrefix(t, "W/") == etag {
			return true
		}
	}
	return false
}
