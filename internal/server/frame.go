package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// frames are pages of others, such as notebooks, that may show ours in a frame, and the port by which a browser then
// reaches it. There is none until one is asked for.
type frames struct {
	mu       sync.Mutex
	server   *http.Server
	listener net.Listener
	origins  []string
}

// framePath is where a frame begins: it keeps the token of the address in a cookie and goes on to the page.
const framePath = "/frame"

type frameRequest struct {
	// Origin of the page that has the frame, such as http://localhost:8888.
	Origin string `json:"origin"`
}

type frameJSON struct {
	// Address of the page, under the host name of the origin, with the token; parameters of the page may follow.
	Address string `json:"address"`
}

func (f *frames) serve(h *http.Server) {
	f.mu.Lock()
	f.server = h
	f.mu.Unlock()
}

// ancestors returns the pages that may have ours in a frame, as a policy has them.
func (f *frames) ancestors() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(append([]string{"'self'"}, f.origins...), " ")
}

// allow lets one origin have the page in a frame, and gives the port.
func (f *frames) allow(origin string) (net.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.server == nil {
		return nil, errors.New("nothing listens yet")
	}
	if f.listener == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		f.listener = l
		go f.server.Serve(l) // ends with the server, which closes the listener
	}
	if !slices.Contains(f.origins, origin) {
		f.origins = append(f.origins, origin)
	}
	return f.listener.Addr(), nil
}

// frame opens the page to a frame of the page that is named, and of no other.
func (s *Server) frame(w http.ResponseWriter, r *http.Request) error {
	if !s.config.Frames {
		return &apiError{Status: http.StatusNotFound, Kind: "not-found", Message: "this server is for no frame"}
	}
	var q frameRequest
	if err := wantJSON(r); err != nil {
		return err
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
		return usage(fmt.Errorf("body: %w", err))
	}
	origin, host, err := readOrigin(q.Origin)
	if err != nil {
		return usage(err)
	}
	a, err := s.frames.allow(origin)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, frameJSON{"http://" + net.JoinHostPort(host, port) + framePath + "?token=" +
		url.QueryEscape(s.config.Token)})
}

// readOrigin reads the origin of a page on this machine. The frame needs its host name: a browser sends our cookie to
// no frame of another site.
func readOrigin(text string) (origin, host string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.User != nil || strings.ContainsAny(u.Host, "*;, '\"") {
		return "", "", fmt.Errorf("origin %s: want that of a page, such as http://localhost:8888", quoteShort(text))
	}
	host = u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", "", fmt.Errorf("origin %s: a frame works in pages of this machine, at localhost or 127.0.0.1",
			quoteShort(text))
	}
	return u.Scheme + "://" + u.Host, host, nil
}
