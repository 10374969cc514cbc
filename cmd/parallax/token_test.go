package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/load"
)

func TestTheTokenOfAnAddressOutlivesTheServer(t *testing.T) {
	at := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	mine, other := &load.Cache{Dir: t.TempDir()}, &load.Cache{Dir: t.TempDir()}
	token := tokenFor(mine, at("127.0.0.1", 8080))
	if len(token) < 20 || tokenFor(mine, at("127.0.0.1", 8080)) != token {
		t.Errorf("the token is %q and then %q", token, tokenFor(mine, at("127.0.0.1", 8080)))
	}
	for what, got := range map[string]string{
		"another port": tokenFor(mine, at("127.0.0.1", 8081)), "another address": tokenFor(mine, at("::1", 8080)), "another user": tokenFor(other, at("127.0.0.1", 8080)),
	} {
		if got == token || len(got) < 20 {
			t.Errorf("%s has the token %q", what, got)
		}
	}
	if got := tokenFor(mine, at("0.0.0.0", 8080)) + tokenFor(mine, at("192.0.2.1", 8080)); got != "" {
		t.Errorf("an address that others reach has the lasting token %q", got)
	}
	path := filepath.Join(mine.Dir, "secret")
	if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", info, err)
	}
	if os.PathSeparator == '/' {
		os.Chmod(path, 0o644)
		if got := tokenFor(mine, at("127.0.0.1", 8080)); got != "" {
			t.Errorf("a secret that others can read makes the token %q", got)
		}
	}
}
