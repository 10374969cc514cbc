package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/parallax-hpc/parallax/internal/server"
)

// listen opens the listener of the server, and reads certificates and tokens. done closes the audit.
func (e *env) listen(c *server.Config) (l net.Listener, done func(), err error) {
	defer func() { err = explainedBy("serving", err) }()
	done = func() {}
	c.Hosts, c.PerClient = e.list("host"), int(e.number("per-client"))
	if c.TLS, err = e.certificate(); err != nil {
		return nil, done, err
	}
	if c.Tokens, err = readTokens(e.text("tokens")); err != nil {
		return nil, done, err
	}
	if path := e.text("tokens"); path != "" {
		c.TokensIn = changedTokens(path, e.warn)
	}
	if c.Proxy, err = e.proxy(); err != nil {
		return nil, done, err
	}
	switch path := e.text("access-log"); path {
	case "":
	case "-":
		c.Audit = e.stderr
	default:
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, done, fmt.Errorf("--access-log: %w", err)
		}
		c.Audit, done = f, func() { f.Close() }
	}
	address := e.text("listen")
	if e.flag("child") {
		remove := func() {}
		if l, remove, err = listenAsChild(); err != nil {
			done()
			return nil, func() {}, err
		}
		before := done
		return l, func() { remove(); before() }, nil
	}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		l, err = listenSocket(path)
	} else {
		l, err = listenTCP(address)
	}
	if err != nil {
		done()
	}
	return l, done, err
}

// changedTokens reads the file of tokens again when it has changed. If the file cannot be read no token is valid:
// it may be written so as to revoke a token.
func changedTokens(path string, warn func(string, ...any)) func() ([]server.Token, bool) {
	stamp := func() string {
		info, err := os.Stat(path)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Mode())
	}
	last := stamp()
	return func() ([]server.Token, bool) {
		now := stamp()
		if now == last {
			return nil, false
		}
		last = now
		list, err := readTokens(path)
		if err != nil {
			warn("%v; all requests are refused until it can be read", err)
		}
		return list, true
	}
}

// proxy is the one that signs people in.
func (e *env) proxy() (*server.Proxy, error) {
	header := e.text("trust-header")
	if header == "" {
		if len(e.list("trust-from")) > 0 {
			return nil, usage("--trust-from is for --trust-header HEADER")
		}
		return nil, nil
	}
	if e.text("tokens") == "" {
		return nil, usage("--trust-header needs --tokens FILE with the rights of each user: carol read -")
	}
	p := &server.Proxy{Header: header}
	from := e.list("trust-from")
	if len(from) == 0 {
		from = []string{"127.0.0.0/8", "::1"}
	}
	for _, text := range from {
		x, err := netip.ParsePrefix(text)
		if err != nil {
			a, bad := netip.ParseAddr(text)
			if bad != nil {
				return nil,
					usage("--trust-from %q: want an address or a network, such as 10.0.0.5 or 10.0.0.0/24", text)
			}
			x = netip.PrefixFrom(a, a.BitLen())
		}
		p.From = append(p.From, x)
	}
	return p, nil
}

// listenTCP opens a port.
func listenTCP(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil,
			explainedBy("serving", fmt.Errorf("listen: %w; choose another address with --listen HOST:PORT", err))
	}
	return l, nil
}

func (e *env) certificate() (*tls.Config, error) {
	cert, key := e.text("tls-cert"), e.text("tls-key")
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, usage("--tls-cert and --tls-key go together")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", cert, key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// readTokens reads a file of tokens, which only its owner may read.
func readTokens(path string) ([]server.Token, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--tokens: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && os.PathSeparator == '/' && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("--tokens %s: others can read it; `chmod 600 %s` first", path, path)
	}
	tokens, err := server.ParseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("--tokens %s: %w", path, err)
	}
	return tokens, nil
}

// listenSocket makes a socket that only this user can connect to. A socket without a server is replaced.
func listenSocket(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("listen: another process answers at %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// exposure warns of the machines that can reach an address, if these are more than this one.
func exposure(a net.Addr, encrypted bool) (warnings []string) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return nil
	}
	out := []string{"others can reach this address: everyone with its token can read these runs, and open any " +
		"file that you can read; --tokens FILE gives tokens that only look"}
	if !encrypted {
		out = append(out,
			"the line is not encrypted: who listens on the way reads the token; give --tls-cert and --tls-key, or "+
				"listen on 127.0.0.1 and use a tunnel")
	}
	return out
}
