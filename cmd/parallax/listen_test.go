package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// A said is what a program prints, while it prints it.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// serveOpen runs `parallax open` until the test ends, and gives the address it printed.
func serveOpen(t *testing.T, args ...string) (address string, out, errs *said) {
	t.Helper()
	out, errs = &said{}, &said{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"open", "--no-browser", "--cache", filepath.Join(t.TempDir(), "cache")}, args...), out, errs)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	find := regexp.MustCompile(`Parallax is at (\S+)`)
	for {
		if m := find.FindStringSubmatch(out.String()); m != nil {
			return m[1], out, errs
		}
		select {
		case status := <-ended:
			ended <- status
			t.Fatalf("ended with %d: %s", status, errs)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// certify makes a certificate for this machine.
func certify(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key, pool = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(public)
	for path, b := range map[string][]byte{cert: public, key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyBytes})} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key, pool
}

func TestTheLineCanBeEncrypted(t *testing.T) {
	cert, key, pool := certify(t)
	address, _, _ := serveOpen(t, "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(address, "https://127.0.0.1:") {
		t.Fatalf("the address is %s", address)
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	answer, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if c := answer.Cookies(); len(c) != 1 || !c[0].Secure {
		t.Errorf("answer %d with cookies %v: they must not travel in plain", answer.StatusCode, c)
	}
	if plain, err := http.Get(strings.Replace(address, "https", "http", 1)); err == nil {
		if plain.Body.Close(); plain.StatusCode < 400 {
			t.Errorf("in plain it answers %d", plain.StatusCode)
		}
	}
	var out, errs said
	if status := run(t.Context(), []string{"open", "--no-browser", "--tls-cert", cert}, &out, &errs); status != 2 || !strings.Contains(errs.String(), "--tls-key") {
		t.Errorf("a certificate without its key: %d, %s", status, &errs)
	}
}

func TestASocketIsTheUsersOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close() // as after a kill: the file stays and nobody answers
	address, _, _ := serveOpen(t, "--listen", "unix:"+path)
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	_, token, _ := strings.Cut(address, "token=")
	r, _ := http.NewRequest("GET", "http://localhost/api/runs", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != 200 {
		t.Errorf("answers %d", answer.StatusCode)
	}
	var out, errs said
	if status := run(t.Context(), []string{"open", "--no-browser", "--listen", "unix:" + path}, &out, &errs); status != 1 || !strings.Contains(errs.String(), "another process") {
		t.Errorf("a second one on the socket: %d, %s", status, &errs)
	}
}

func TestEveryRequestLeavesALineWithoutItsToken(t *testing.T) {
	dir := t.TempDir()
	tokens, audit := filepath.Join(dir, "tokens"), filepath.Join(dir, "audit")
	const value = "0123456789abcdefghij"
	if err := os.WriteFile(tokens, []byte("# who may look\nalice full "+value+"\nbob read zyxwvutsrqponmlkjihg until 2020-01-01\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address, _, _ := serveOpen(t, "--tokens", tokens, "--access-log", audit)
	base, _, _ := strings.Cut(address, "/?")
	for _, token := range []string{value, "zyxwvutsrqponmlkjihg", "wrong"} {
		r, _ := http.NewRequest("GET", base+"/api/runs?x=y", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if want := map[bool]int{true: 200, false: 403}[token == value]; answer.StatusCode != want {
			t.Errorf("token %s: %d, want %d", token, answer.StatusCode, want)
		}
	}
	var text []byte
	for range 24_000 { // a line is written after its answer
		if text, _ = os.ReadFile(audit); strings.Count(string(text), "\n") >= 3 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 || strings.Contains(string(text), value) {
		t.Fatalf("audit:\n%s", text)
	}
	var first struct {
		Client, Holder, Method, Path string
		Status, Bytes                int
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Holder != "alice" || first.Path != "/api/runs" || first.Status != 200 || first.Bytes == 0 || first.Client != "127.0.0.1" || first.Method != "GET" {
		t.Errorf("%v: %s", err, lines[0])
	}
	os.Chmod(tokens, 0o644)
	if _, err := readTokens(tokens); os.PathSeparator == '/' && (err == nil || !strings.Contains(err.Error(), "chmod 600")) {
		t.Errorf("tokens that others can read: %v", err)
	}
}

func TestListeningBeyondThisMachineIsAnnounced(t *testing.T) {
	at := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	if got := exposure(at("127.0.0.1"), false); got != nil {
		t.Errorf("loopback: %q", got)
	}
	if got := exposure(at("0.0.0.0"), false); len(got) != 2 || !strings.Contains(got[1], "not encrypted") {
		t.Errorf("all addresses: %q", got)
	}
	if got := exposure(at("192.0.2.1"), true); len(got) != 1 {
		t.Errorf("encrypted: %q", got)
	}
	address, _, errs := serveOpen(t, "--listen", "0.0.0.0:0")
	if name, err := os.Hostname(); err == nil && !strings.HasPrefix(address, "http://"+name+":") {
		t.Errorf("the address is %s", address)
	}
	for range 24_000 {
		if strings.Contains(errs.String(), "not encrypted") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("it says %q", errs)
}
