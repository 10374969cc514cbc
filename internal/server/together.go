package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"time"
)

// mostTogether bounds the requests of one POST …/together.
const mostTogether = 32

// togetherBody is the body of POST …/together.
type togetherBody struct {
	// Ask is a list of requests: paths below the run, with their parameters.
	Ask []string `json:"ask"`
}

// answersType is the content of POST …/together: for each answer, in the order in which they are ready, a line with a
// partHead as JSON, and then its bytes.
const answersType = "application/vnd.parallax.answers"

type partHead struct {
	Ask    int    `json:"ask"` // Index of the request.
	Status int    `json:"status"`
	Bytes  int    `json:"bytes"`
	Kept   string `json:"kept,omitempty"` // As the header Parallax-Kept of the answer alone.
}

// askedTogether are the paths that may be asked together: those that a page asks for after each move.
var askedTogether = regexp.MustCompile(`^(views/[a-z]+/(scene|data|table)|summary)(\?|$)`)

// together answers several requests about a run in one. Each is answered as it would be alone, with its own status; the
// first that is ready comes first.
func (s *Server) together(w http.ResponseWriter, r *http.Request, x *run) error {
	if err := wantJSON(r); err != nil {
		return err
	}
	var q togetherBody
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
		return usage(fmt.Errorf("body: %w", err))
	}
	if len(q.Ask) == 0 || len(q.Ask) > mostTogether {
		return usage(fmt.Errorf("ask: want 1 to %d requests, got %d", mostTogether, len(q.Ask)))
	}
	asked := make([]*http.Request, len(q.Ask))
	for i, path := range q.Ask {
		one, err := s.oneOf(r, x, path)
		if err != nil {
			return err
		}
		asked[i] = one
	}
	w.Header().Set("Content-Type", answersType)
	w.Header().Set("Vary", "Accept-Encoding, Parallax-Rate")
	out, done := s.partWriter(w, r)
	defer done()
	w.WriteHeader(http.StatusOK)
	var all sync.WaitGroup
	for i, one := range asked {
		all.Go(func() {
			part := &partAnswer{header: http.Header{}}
			func() {
				defer s.recoverPanic(part, one)
				s.mux.ServeHTTP(part, one)
			}()
			out(i, part)
		})
	}
	all.Wait()
	return nil
}

// oneOf makes a request of a path below the run.
func (s *Server) oneOf(r *http.Request, x *run, path string) (*http.Request, error) {
	if !askedTogether.MatchString(path) {
		return nil, usage(errors.New("ask " + quoteShort(path) + ": want views/VIEW/scene, data or table, or summary"))
	}
	u, err := url.Parse("/api/runs/" + url.PathEscape(x.id) + "/" + path)
	if err == nil && len(u.RawQuery) > maxQuery {
		err = errors.New("its parameters are too long")
	}
	if err != nil {
		return nil, usage(fmt.Errorf("ask %s: %w", quoteShort(path), err))
	}
	one := r.Clone(r.Context())
	one.Method, one.URL, one.RequestURI, one.Body, one.ContentLength = http.MethodGet, u, u.RequestURI(), http.NoBody, 0
	one.Header.Del("Content-Type")
	one.Header.Del("Accept-Encoding") // the whole is packed, not its parts
	one.Header.Del("Parallax-Rate")
	return one, nil
}

// partWriter returns a function that writes one answer at a time, and the one that ends them.
func (s *Server) partWriter(w http.ResponseWriter, r *http.Request) (write func(int, *partAnswer), done func()) {
	var mu sync.Mutex
	pack := packer(plainPacker{w})
	if s.slowLine(r) {
		pack = newPacker(w, r.Header.Get("Accept-Encoding"))
	}
	control := http.NewResponseController(w)
	return func(i int, p *partAnswer) {
		line, _ := json.Marshal(partHead{Ask: i, Status: max(p.status, http.StatusOK), Bytes: p.body.Len(),
			Kept: p.header.Get("Parallax-Kept")})
		mu.Lock()
		defer mu.Unlock()
		if r.Context().Err() != nil {
			return
		}
		control.SetWriteDeadline(time.Now().Add(5 * time.Minute))
		pack.Write(append(line, '\n')) // an error means that the client has left
		pack.Write(p.body.Bytes())
		pack.Flush()
		control.Flush()
	}, func() { pack.Close() }
}

// A partAnswer keeps the answer to one of several requests.
type partAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (p *partAnswer) Header() http.Header { return p.header }

func (p *partAnswer) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

func (p *partAnswer) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.body.Write(b)
}
