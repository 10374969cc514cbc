package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestTheTokenOfAnAddressOutlivesTheServer(t *testing.T) {
	at := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	mine, other := &cache{dir: t.TempDir()}, &cache{dir: t.TempDir()}
	token := mine.token(at("127.0.0.1", 8080))
	if len(token) < 20 || mine.token(at("127.0.0.1", 8080)) != token {
		t.Errorf("the token is %q and then %q", token, mine.token(at("127.0.0.1", 8080)))
	}
	for what, got := range map[string]string{
		"another port": mine.token(at("127.0.0.1", 8081)), "another address": mine.token(at("::1", 8080)), "another user": other.token(at("127.0.0.1", 8080)),
	} {
		if got == token || len(got) < 20 {
			t.Errorf("%s has the token %q", what, got)
		}
	}
	if got := mine.token(at("0.0.0.0", 8080)) + mine.token(at("192.0.2.1", 8080)); got != "" {
		t.Errorf("an address that others reach has the lasting token %q", got)
	}
	path := filepath.Join(mine.dir, "secret")
	if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", info, err)
	}
	if os.PathSeparator == '/' {
		os.Chmod(path, 0o644)
		if got := mine.token(at("127.0.0.1", 8080)); got != "" {
			t.Errorf("a secret that others can read makes the token %q", got)
		}
	}
}
