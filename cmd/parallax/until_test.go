//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// served starts a command that serves, and waits until it prints its address.
func served(t *testing.T, c *exec.Cmd) (address string, rest io.Reader) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no address: %v", err)
		}
		if _, at, ok := strings.Cut(line, "Parallax is at "); ok {
			return strings.TrimSpace(at), lines
		}
	}
}

// answers tells whether a server is there, whatever it says.
func answers(address string) error {
	r, err := http.Get(address)
	if err == nil {
		r.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	return err
}

var servedArgs = []string{"open", "demo:fig2", "--no-browser", "--until-eof"}

// TestServingEndsWithItsInput: with --until-eof the server ends when standard input is closed, and not before.
func TestServingEndsWithItsInput(t *testing.T) {
	c := process(t, t.TempDir(), "", servedArgs...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	address, rest := served(t, c)
	if err := answers(address); err != nil {
		t.Fatalf("%s does not answer while the input is open: %v", address, err)
	}
	in.Close()
	io.Copy(io.Discard, rest)
	if err := c.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// TestAKilledParentEndsItsServer: the parent, a shell that holds the other end of the pipe, is killed and cannot tell its child.
func TestAKilledParentEndsItsServer(t *testing.T) {
	child := process(t, t.TempDir(), "", servedArgs...)
	quoted := make([]string, len(child.Args))
	for i, a := range child.Args {
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	fifo := t.TempDir() + "/input"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// The child has the reading end alone. The shell keeps the writing end and waits.
	c := exec.Command("sh", "-c", strings.Join(quoted, " ")+" <"+fifo+" & exec 3>"+fifo+"; wait")
	c.Env = child.Env
	address, rest := served(t, c)
	if err := answers(address); err != nil {
		t.Fatalf("%s does not answer while its parent runs: %v", address, err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, rest) // ends when the last process that can write there, the server, has ended
	c.Wait()
	if answers(address) == nil {
		t.Errorf("%s answers after its parent was killed", address)
	}
}
