package server

import (
	"bufio"
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// A Token lets its holder in.
type Token struct {
	Name     string // for the audit
	Value    string
	ReadOnly bool      // it looks, and neither opens nor closes runs
	Until    time.Time // zero: for ever
	shared   bool      // made by one who holds another
}

const leastToken = 16 // letters: shorter ones can be guessed

// ParseTokens reads a file of tokens, a line each: NAME read|full TOKEN [until TIME], with
// the time as 2026-12-31 or in RFC 3339. Empty lines and those that begin with # say nothing.
func ParseTokens(r io.Reader) ([]Token, error) {
	var out []Token
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		t, err := parseToken(f)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		for _, o := range out {
			if o.Value == t.Value || o.Name == t.Name {
				return nil, fmt.Errorf("line %d: %s is there already, or has the same token as %s", n, t.Name, o.Name)
			}
		}
		out = append(out, t)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no token in it; want lines such as: alice full %s until 2030-12-31", newToken())
	}
	return out, nil
}

func parseToken(f []string) (t Token, err error) {
	if len(f) != 3 && (len(f) != 5 || f[3] != "until") {
		return t, fmt.Errorf("want NAME read|full TOKEN [until TIME]")
	}
	t.Name, t.Value = f[0], f[2]
	switch f[1] {
	case "read":
		t.ReadOnly = true
	case "full":
	default:
		return t, fmt.Errorf("%q: want read or full", f[1])
	}
	if len(t.Value) < leastToken {
		return t,
			fmt.Errorf("the token of %s has %d letters, want at least %d; `head -c 18 /dev/urandom | base64` makes one",
				t.Name, len(t.Value), leastToken)
	}
	if len(f) == 5 {
		if t.Until, err = time.Parse(time.RFC3339, f[4]); err != nil {
			if t.Until, err = time.ParseInLocation(time.DateOnly, f[4], time.Local); err != nil {
				return t, fmt.Errorf("until %q: want 2030-12-31 or 2030-12-31T18:00:00Z", f[4])
			}
		}
	}
	return t, nil
}

// holder finds whose a token is; nil where it is nobody's, or nobody's any more. All are
// compared, so that the time it takes tells nothing.
func (g *guard) holder(value string) *Token {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var found *Token
	for i := range g.tokens {
		if subtle.ConstantTimeCompare([]byte(value), []byte(g.tokens[i].Value)) == 1 {
			found = &g.tokens[i]
		}
	}
	if found != nil && !found.Until.IsZero() && !g.now().Before(found.Until) {
		return nil
	}
	return found
}

type holderKey struct{}

// withHolder remembers whose request it is.
func withHolder(r *http.Request, t *Token) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), holderKey{}, t))
}

// holderOf is whose request it is; that of a request that passed the guard.
func holderOf(r *http.Request) *Token {
	t, _ := r.Context().Value(holderKey{}).(*Token)
	return t
}

// mayWrite reports whether the holder of a read-only token may send a request: looking,
// and questions, which have a body.
func mayWrite(r *http.Request) bool {
	t := holderOf(r)
	return t == nil || !t.ReadOnly || r.Method == http.MethodGet || r.Method == http.MethodHead ||
		r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/api/runs/") &&
			strings.HasSuffix(r.URL.Path, "/query")
}

var errReadOnly = &apiError{Status: http.StatusForbidden, Kind: "forbidden",
	Message: "this token only looks: it neither opens nor closes runs",
	Hint:    "ask whoever started parallax for one with full access"}

// shareJSON answers POST /api/share: a token that only looks.
type shareJSON struct {
	Token string    `json:"token"`
	Until time.Time `json:"until"` // RFC 3339.
}

const (
	shareFor  = 7 * 24 * time.Hour
	mostShare = 256 // tokens that hold at once
)

// share makes a token to hand on: it only looks, it ends by itself after a week or with
// the token of who shares, and with the server.
func (s *Server) share(w http.ResponseWriter, r *http.Request) error {
	t, err := s.guard.share(holderOf(r))
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, shareJSON{t.Value, t.Until.UTC()})
}

func (g *guard) share(of *Token) (Token, error) {
	now := g.now()
	t := Token{Name: strings.TrimSpace("shared by " + of.Name), Value: newToken(), ReadOnly: true,
		Until: now.Add(shareFor), shared: true}
	if !of.Until.IsZero() && of.Until.Before(t.Until) {
		t.Until = of.Until
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	// A new list: who holds a token of the old one goes on with it.
	list, shared := make([]Token, 0, len(g.tokens)+1), 0
	for _, o := range g.tokens {
		if o.shared && !now.Before(o.Until) {
			continue
		}
		if list = append(list, o); o.shared {
			shared++
		}
	}
	if shared >= mostShare {
		return t,
			&apiError{Status: http.StatusTooManyRequests, Kind: "busy", Message: "too many addresses are shared",
				Hint: "hand on one of them, or start parallax again"}
	}
	g.tokens = append(list, t)
	return t, nil
}
