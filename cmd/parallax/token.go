package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/load"
)

// tokenFor returns the same token whenever this user listens on the same address of this machine, so that a page
// goes on when its server was restarted, and a copied address still opens. It comes from a secret that only the
// user can read. If others can reach the address, or the secret cannot be kept, it is "": the server makes a new
// one each time.
func tokenFor(c *load.Cache, a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return ""
	}
	secret := secretOf(c)
	if secret == nil {
		return ""
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(a.String()))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

const secretBytes = 32

// secretOf reads the user's secret, or makes it; nil if neither can be done.
func secretOf(c *load.Cache) []byte {
	path := filepath.Join(c.Dir, "secret")
	if b, err := os.ReadFile(path); err == nil && len(b) == secretBytes {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			return nil // others can read it
		}
		return b
	}
	secret := make([]byte, secretBytes)
	rand.Read(secret)
	f, err := os.CreateTemp(c.Dir, ".secret") // only the user can read the file
	if err != nil {
		return nil
	}
	_, err = f.Write(secret)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
		return nil
	}
	return secret
}
