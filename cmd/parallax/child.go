package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/parallax-hpc/parallax/internal/server"
)

// childProtocol is the version of the protocol between a parent and its child: the line that the child prints, and
// the paths of the API that the parent uses. It changes when an older parent would not understand a newer child.
const childProtocol = 1

// A childLine is the line that a child prints on standard output.
type childLine struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	Address  string `json:"address"` // unix:PATH, or HOST:PORT
	Token    string `json:"token"`
}

func printChild(w io.Writer, a net.Addr, s *server.Server) error {
	address := a.String()
	if a.Network() == "unix" {
		address = "unix:" + address
	}
	line, err := json.Marshal(childLine{childProtocol, version(), address, s.Token()})
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", line)
	}
	return err
}

// mostSocketPath is how long the path of a socket may be on every system.
const mostSocketPath = 100

// listenAsChild makes a socket in a directory that only this user can enter; done removes both. On Windows, where not
// every Python knows such sockets, it is a port of this machine.
func listenAsChild() (l net.Listener, done func(), err error) {
	if runtime.GOOS == "windows" {
		l, err = listenTCP("127.0.0.1:0")
		return l, func() {}, err
	}
	parent := os.TempDir()
	if len(parent) > mostSocketPath-len("/parallax-0123456789/s") {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "parallax-") // mode 0700
	if err != nil {
		return nil, nil, err
	}
	done = func() { os.RemoveAll(dir) }
	if l, err = listenSocket(filepath.Join(dir, "s")); err != nil {
		done()
	}
	return l, done, err
}
