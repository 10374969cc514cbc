package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/spf13/pflag"
)

func tokensCommand() *command {
	return &command{
		name: "tokens", args: "FILE [add NAME read|full|admin | revoke NAME | hash]",
		summary: "list, add and revoke the tokens of a file for --tokens; a running server notices within a second",
		help: "A token is printed once, when it is added; the file has only its hash. `hash` replaces tokens in " +
			"plain text by their hashes. Rights: read is read-only, full also opens runs and closes its own, admin " +
			"closes any.\n\n" +
			"  parallax tokens people.tokens add alice admin\n" +
			"  parallax tokens people.tokens add bob full --until 2030-12-31 --runs 'team-*'\n" +
			"  parallax tokens people.tokens add carol read --signed-in\n" +
			"  parallax tokens people.tokens\n" +
			"  parallax tokens people.tokens revoke bob",
		flags: func(fs *pflag.FlagSet) {
			fs.String("until", "", "DAY or time at which the token expires: 2030-12-31")
			fs.String("runs", "", "PATTERN,PATTERN of the visible runs; default: all")
			fs.Bool("signed-in", false, "no token: a proxy signs the holder in, see --trust-header")
			fs.Bool("quiet", false, "print errors only")
		},
		run: runTokens,
	}
}

func runTokens(_ context.Context, e *env, args []string) error {
	switch {
	case len(args) == 1:
		return listTokens(e, args[0])
	case len(args) == 4 && args[1] == "add":
		return addToken(e, args[0], args[2], args[3])
	case len(args) == 3 && args[1] == "revoke":
		return revokeToken(args[0], args[2])
	case len(args) == 2 && args[1] == "hash":
		return hashTokens(args[0])
	}
	return usage("tokens: want FILE, FILE add NAME read|full|admin, FILE revoke NAME, or FILE hash")
}

func listTokens(e *env, path string) error {
	tokens, err := readTokens(path)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(plain{e.stdout}, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\taccess\tby\tuntil\truns")
	for _, t := range tokens {
		access, by, until, runs := "full", "token", "", "all"
		switch {
		case t.ReadOnly:
			access = "read"
		case t.Admin:
			access = "admin"
		}
		switch {
		case t.Value == server.NoToken:
			by = "proxy"
		case t.Plain():
			by = "token, not hashed"
		}
		if !t.Until.IsZero() {
			if until = t.Until.Format(time.DateOnly); time.Now().After(t.Until) {
				until += " (ended)"
			}
		}
		if len(t.Runs) > 0 {
			runs = strings.Join(t.Runs, ",")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.Name, access, by, until, runs)
	}
	return w.Flush()
}

func addToken(e *env, path, name, access string) error {
	value := server.NoToken
	if !e.flag("signed-in") {
		var b [18]byte
		rand.Read(b[:])
		value = base64.RawURLEncoding.EncodeToString(b[:])
	}
	line := name + " " + access + " " + value
	if value != server.NoToken {
		line = name + " " + access + " " + server.Hash(value)
	}
	for _, key := range []string{"until", "runs"} {
		if text := e.text(key); text != "" {
			line += " " + key + " " + text
		}
	}
	err := changeTokens(path, func(lines []string) ([]string, error) { return append(lines, line), nil })
	if err == nil && value != server.NoToken {
		fmt.Fprintln(e.stdout, value)
	}
	return err
}

func revokeToken(path, name string) error {
	return changeTokens(path, func(lines []string) ([]string, error) {
		var left []string
		for _, l := range lines {
			if f := strings.Fields(l); len(f) == 0 || f[0] != name {
				left = append(left, l)
			}
		}
		if len(left) == len(lines) {
			return nil, fmt.Errorf("tokens %s: %q holds none", path, name)
		}
		return left, nil
	})
}

// hashTokens replaces the tokens of a file by their hashes.
func hashTokens(path string) error {
	return changeTokens(path, func(lines []string) ([]string, error) {
		for i, l := range lines {
			f := strings.Fields(l)
			if len(f) < 3 || strings.HasPrefix(f[0], "#") {
				continue
			}
			if t := (server.Token{Value: f[2]}); t.Plain() {
				f[2] = server.Hash(f[2])
				lines[i] = strings.Join(f, " ")
			}
		}
		return lines, nil
	})
}

// changeTokens writes the file anew, whole or not at all.
func changeTokens(path string, change func([]string) ([]string, error)) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tokens: %w", err)
	}
	var lines []string
	if text := strings.TrimRight(string(old), "\n"); text != "" {
		lines = strings.Split(text, "\n")
	}
	if lines, err = change(lines); err != nil {
		return err
	}
	text := strings.Join(lines, "\n") + "\n"
	if _, err := server.ParseTokens(strings.NewReader(text)); err != nil && !errors.Is(err, server.ErrNoTokens) {
		return fmt.Errorf("tokens %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tokens-") // which only its owner can read
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("tokens: %w", err)
	}
	return nil
}
