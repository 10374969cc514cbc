package server

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// A Token lets its holder in.
type Token struct {
	Name     string    // for the audit
	Value    string    // the token itself, its hash (see Hash), or NoToken
	ReadOnly bool      // it looks, and neither opens nor closes runs
	Admin    bool      // it closes runs of others, and sees all
	Until    time.Time // zero: for ever
	// Runs are patterns of the names of runs that the holder may see; none: all.
	Runs   []string
	shared bool   // made by one who holds another
	by     string // who shared it
}

// NoToken in place of a token is for holders whom a proxy signs in.
const NoToken = "-"

// hashed begins the hash of a token in a file. Tokens are random, so one round of SHA-256 cannot be turned back.
const hashed = "sha256:"

// Hash returns a token as files should hold it.
func Hash(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hashed + hex.EncodeToString(sum[:])
}

// Plain reports whether the token itself is known, and not its hash.
func (t *Token) Plain() bool { return t.Value != NoToken && !strings.HasPrefix(t.Value, hashed) }

// Is reports whether a value is the token. The time taken reveals nothing.
func (t *Token) Is(value string) bool {
	own := t.Value
	if t.Plain() {
		own = Hash(own)
	}
	return subtle.ConstantTimeCompare([]byte(Hash(value)), []byte(own)) == 1
}

const leastToken = 16 // letters: shorter ones can be guessed

// ErrNoTokens reports a file without a token.
var ErrNoTokens = errors.New("no token in it")

// ParseTokens reads a file of tokens, a line each: NAME read|full|admin TOKEN [until TIME] [runs PATTERN,PATTERN], with
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
			if o.Value == t.Value && t.Value != NoToken || t.Plain() && o.Is(t.Value) || o.Plain() && t.Is(o.Value) ||
				o.Name == t.Name {
				return nil, fmt.Errorf("line %d: %s is there already, or has the same token as %s", n, t.Name, o.Name)
			}
		}
		out = append(out, t)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w; want lines such as: alice full %s until 2030-12-31", ErrNoTokens, newToken())
	}
	return out, nil
}

func parseToken(f []string) (t Token, err error) {
	if len(f) < 3 || len(f)%2 == 0 {
		return t, errors.New("want NAME read|full|admin TOKEN [until TIME] [runs PATTERN,PATTERN]")
	}
	t.Name, t.Value = f[0], f[2]
	switch f[1] {
	case "read":
		t.ReadOnly = true
	case "full":
	case "admin":
		t.Admin = true
	default:
		return t, fmt.Errorf("access of %s: want read, full or admin", t.Name)
	}
	if hash, ok := strings.CutPrefix(t.Value, hashed); ok {
		if b, err := hex.DecodeString(hash); err != nil || len(b) != sha256.Size {
			return t, fmt.Errorf("the hash of the token of %s: want 64 hexadecimal digits", t.Name)
		}
	}
	if t.Plain() && len(t.Value) < leastToken {
		return t,
			fmt.Errorf("the token of %s has %d letters, want at least %d; `head -c 18 /dev/urandom | base64` makes one",
				t.Name, len(t.Value), leastToken)
	}
	for ; len(f) > 3; f = f[2:] {
		switch f[3] {
		case "until":
			if t.Until, err = parseUntil(f[4]); err != nil {
				return t, err
			}
		case "runs":
			if t.Runs, err = parsePatterns(f[4]); err != nil {
				return t, err
			}
		default:
			return t, errors.New("want until TIME or runs PATTERN,PATTERN behind the token")
		}
	}
	return t, nil
}

func parseUntil(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return t, fmt.Errorf("until %q: want 2030-12-31 or 2030-12-31T18:00:00Z", text)
	}
	return t, nil
}

func parsePatterns(text string) ([]string, error) {
	list := strings.Split(text, ",")
	for _, p := range list {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return nil, fmt.Errorf("runs %q: want patterns such as team-*,demo", text)
		}
	}
	return list, nil
}

// sees reports whether the holder of a token may see a run: its name fits, and the user who opened it admits the
// holder.
func (t *Token) sees(x *run) bool {
	if t == nil || t.Admin || x.owner != "" && x.owner == t.Name {
		return true
	}
	if len(x.readers) > 0 && !slices.Contains(x.readers, t.Name) && !slices.Contains(x.readers, t.by) {
		return false
	}
	if len(t.Runs) == 0 {
		return true
	}
	return slices.ContainsFunc(t.Runs, func(p string) bool {
		ok, _ := path.Match(p, x.id)
		return ok
	})
}

// closes reports whether the holder may close a run: its own, one of the command line, and an admin any.
func (t *Token) closes(x *run) bool {
	return t == nil || !t.ReadOnly && t.sees(x) && (t.Admin || x.owner == "" || x.owner == t.Name)
}

// named returns the holder of that name, or the one whom "*" stands for.
func (g *guard) named(name string) *Token {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var any *Token
	for i := range g.tokens {
		t := &g.tokens[i]
		switch {
		case t.shared || !t.Until.IsZero() && !g.now().Before(t.Until):
		case t.Name == name && name != "*" && name != "":
			return t
		case t.Name == "*" && t.Value == NoToken && name != "":
			any = t
		}
	}
	if any == nil {
		return nil
	}
	t := *any
	t.Name = name
	return &t
}

// holder finds the token with a value; nil if there is none, or if it has expired. All are compared, so that the time
// taken reveals nothing.
func (g *guard) holder(value string) *Token {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var found *Token
	for i := range g.tokens {
		if g.tokens[i].Is(value) {
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

// holderOf returns the token of a request; that of a request that passed the guard.
func holderOf(r *http.Request) *Token {
	t, _ := r.Context().Value(holderKey{}).(*Token)
	return t
}

// HolderOf names whose request a context is of; "" where it is of none, or there is one token without a name.
func HolderOf(ctx context.Context) string {
	if t, _ := ctx.Value(holderKey{}).(*Token); t != nil {
		return t.Name
	}
	return ""
}

// mayWrite reports whether the holder of a read-only token may send a request: looking,
// and questions, which have a body.
func mayWrite(r *http.Request) bool {
	t := holderOf(r)
	return t == nil || !t.ReadOnly || r.Method == http.MethodGet || r.Method == http.MethodHead ||
		r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/api/runs/") &&
			(strings.HasSuffix(r.URL.Path, "/query") || strings.HasSuffix(r.URL.Path, "/together"))
}

var errReadOnly = &apiError{Status: http.StatusForbidden, Kind: "forbidden",
	Message: "this token is read-only: it neither opens nor closes runs",
	Hint:    "ask the person who started parallax for one with full access"}

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
// the token of who shares, and with the server. The server holds its hash alone.
func (s *Server) share(w http.ResponseWriter, r *http.Request) error {
	value := newToken()
	t, err := s.guard.share(holderOf(r), value)
	if err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, shareJSON{value, t.Until.UTC()})
}

func (g *guard) share(of *Token, value string) (Token, error) {
	now := g.now()
	t := Token{Name: strings.TrimSpace("shared by " + of.Name), Value: Hash(value), ReadOnly: true,
		Until: now.Add(shareFor), Runs: of.Runs, shared: true, by: of.Name}
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
