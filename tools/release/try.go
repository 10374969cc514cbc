package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// try installs the packages for this machine, each into an empty root, and uses only the files there: no Go, no
// Node, no library.
func (r *release) try() error {
	if !slices.Contains(r.platforms, "linux/"+runtime.GOARCH) || runtime.GOOS != "linux" {
		fmt.Println("no packages for this machine: none was tried")
		return nil
	}
	for _, kind := range []string{".deb", ".rpm"} {
		pkg := filepath.Join(r.out, fmt.Sprintf("parallax_%s_linux_%s%s", r.version, runtime.GOARCH, kind))
		said, err := r.tryPackage(pkg)
		switch {
		case errors.Is(err, errNoTool):
			fmt.Printf("%s: not tried, %v\n", kind, err)
		case err != nil:
			return fmt.Errorf("%s: %w", filepath.Base(pkg), err)
		default:
			fmt.Printf("%s: installed into an empty root, %s\n", kind, said)
		}
	}
	return nil
}

func (r *release) tryPackage(pkg string) (said string, err error) {
	root, err := os.MkdirTemp("", "release-root-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(root)
	if err := install(pkg, root); err != nil {
		return "", err
	}
	for _, to := range places {
		if _, err := os.Stat(filepath.Join(root, to)); err != nil {
			return "", err
		}
	}
	out, err := within(root, "version", "--json").Output()
	if err != nil {
		return "", fmt.Errorf("version: %w", err)
	}
	var v struct{ Version, Commit, Date string }
	if err := json.Unmarshal(out, &v); err != nil || v.Version != r.version || v.Commit != r.commit ||
		v.Date != r.date.Format(time.RFC3339) {
		return "", fmt.Errorf("it says that it is %s: %w", out, err)
	}
	if out, err = within(root, "check", "demo:stencil", "--quiet").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "straggler") && !strings.Contains(string(out), "imbalance") {
		return "", fmt.Errorf("check demo:stencil: %w: %s", err, out)
	}
	size, err := openDemo(root)
	return fmt.Sprintf("says its version, checks a demo, and serves its page (%d bytes)", size), err
}

// openDemo opens a demo as a user does, and asks for its page.
func openDemo(root string) (bytes int, err error) {
	c := within(root, "open", "demo:stencil", "--no-browser", "--listen", "127.0.0.1:0")
	pipe, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }() // it serves until it is ended
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		at := strings.Index(lines.Text(), "http://")
		if at < 0 {
			continue
		}
		jar, _ := cookiejar.New(nil) // the token of the address becomes one
		answer, err := (&http.Client{Jar: jar, Timeout: time.Minute}).Get(strings.Fields(lines.Text()[at:])[0])
		if err != nil {
			return 0, err
		}
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(page), "<title>") {
			return 0, fmt.Errorf("its page: status %d, %w", answer.StatusCode, err)
		}
		return len(page), nil
	}
	return 0, fmt.Errorf("open demo:stencil: it gives no address")
}
