// Command parallax shows a parallel program from every side: it reads traces and
// profiles, keeps them in a columnar store, and answers through linked views, in
// the browser and headless.
//
// This package is the wiring, the only one that imports all others: one file per subcommand; internal/load goes
// from a source to an open run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

// A command is one verb.
type command struct {
	name    string
	args    string // as shown in the usage line
	summary string // one line
	help    string // the rest, with an example
	flags   func(*pflag.FlagSet)
	run     func(ctx context.Context, e *env, args []string) error
	serves  bool // it goes on until it is ended: each answer is bound by itself
}

// An env is the environment of a command: its output, flags and memory budget.
type env struct {
	stdout, stderr io.Writer
	flags          *pflag.FlagSet
	terminal       bool // stderr is one: progress may be drawn
	budget         *memory.Budget
}

func (e *env) text(name string) string   { s, _ := e.flags.GetString(name); return s }
func (e *env) flag(name string) bool     { b, _ := e.flags.GetBool(name); return b }
func (e *env) list(name string) []string { l, _ := e.flags.GetStringArray(name); return l }
func (e *env) number(name string) int64  { n, _ := e.flags.GetInt64(name); return n }
func (e *env) warn(format string, a ...any) {
	if e.flag("quiet") {
		return
	}
	fmt.Fprintf(plain{e.stderr}, "parallax: "+format+"\n", a...)
}

// usageOf returns err as a usage error; a refusal of a word stays as it is.
func usageOf(err error) error {
	var refused *words.Refusal
	if errors.As(err, &refused) {
		return err
	}
	return usage("%v", err)
}

// usage returns an error that ends the program with status 2.
func usage(format string, a ...any) error { return &load.UsageError{Text: fmt.Sprintf(format, a...)} }

// errSilent ends the program with status 1 if the output already explains why.
var errSilent = errors.New("")

// errCannotTell ends the program with status 4 if the output already states that there are too few runs, or no number,
// for a limit.
var errCannotTell = errors.New("cannot tell")

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return append(names, "help", "version")
}

func commands() []*command {
	return []*command{openCommand(), importCommand(), infoCommand(), viewCommand(), compareCommand(), checkCommand(),
		queryCommand(), exportCommand(), mcpCommand(), formatsCommand(), viewsCommand(), demoCommand(), genCommand(),
		reportCommand(), pythonCommand(), recorderCommand(), receiveCommand(), tokensCommand(), anonymiseCommand(),
		docsCommand(), completionCommand(),
		cacheCommand(), runsCommand(), rmCommand(), verifyCommand(), licencesCommand()}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if os.Getenv(query.WorkerVariable) != "" {
		if err := work(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with everything it touches as arguments; it returns the exit status, see exitStatus.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	say := plain{stderr}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(say, "parallax: internal error; please report it with the text below: %v\n%s\n",
				p, debug.Stack())
			status = 3
		}
	}()
	err := dispatch(ctx, args, stdout, stderr)
	var u *load.UsageError
	var refused *words.Refusal
	switch {
	// the reader of a pipe has seen enough
	case err == nil || errors.Is(err, pflag.ErrHelp) || errors.Is(err, syscall.EPIPE):
		return 0
	case errors.As(err, &u):
		fmt.Fprintln(say, "parallax: "+u.Text+words.Suggest(u.Typed, u.Known))
		return 2
	case errors.As(err, &refused):
		fmt.Fprintln(say, "parallax: "+withPage(err))
		return 2
	case err == errCannotTell:
		return 4
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(say, "parallax: interrupted")
		return 1
	case err != errSilent:
		fmt.Fprintln(say, "parallax: "+withPage(err))
	}
	return 1
}

// withPage is the text of an error, with the page of the documents that is about it.
func withPage(err error) string {
	text := strings.TrimSpace(err.Error())
	if page := pageOf(err); page != "" {
		see := "; see"
		if strings.HasSuffix(text, "?") {
			see = " See"
		}
		text += see + " `parallax docs " + page + "`"
	}
	return text
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 && !isTerminal(stdout) {
		return help(stdout, nil)
	}
	if len(args) == 0 {
		args = []string{"open"}
	}
	name := args[0]
	switch name {
	case "help", "-h", "--help":
		return help(stdout, args[1:])
	case "version", "--version":
		return printVersion(stdout, args[1:])
	}
	for _, c := range commands() {
		if c.name == name {
			return c.execute(ctx, args[1:], stdout, stderr)
		}
	}
	if isSource(name) || strings.HasPrefix(name, "-") {
		return openCommand().execute(ctx, args, stdout, stderr)
	}
	return usage("%q is neither a command nor a file%s; `parallax help` lists the commands", name,
		words.Suggest(name, commandNames()))
}

func (c *command) execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.SortFlags = false
	fs.SetNormalizeFunc(presentName)
	if c.flags != nil {
		c.flags(fs)
	}
	if c.name == "compare" {
		args = divided(args)
	}
	if err := fs.Parse(bareFlags(args)); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			c.describe(stdout, viewIn(args))
			return err
		}
		return usage("%s: %v; `parallax help %s` shows what there is%s", c.name, err, c.name, nearestFlag(fs, err))
	}
	e := &env{stdout: stdout, stderr: stderr, flags: fs, terminal: isTerminal(stderr)}
	run := func(ctx context.Context) error {
		return e.untilEOF(ctx,
			func(ctx context.Context) error { return explainedBy(c.page(fs.Args()), c.run(ctx, e, fs.Args())) })
	}
	if fs.Lookup("memory") == nil {
		return run(ctx)
	}
	return e.within(ctx, run, c.serves)
}

// sources defines a source.
const sources = "A SOURCE is a file, a directory, an archive (tar, zip), a .plx store, demo:NAME, or " +
	"clickhouse://HOST:PORT/DATABASE/RUN."

func help(w io.Writer, args []string) error {
	if len(args) == 1 && args[0] == "--man" {
		writeMan(w)
		return nil
	}
	if len(args) == 0 {
		fmt.Fprint(w, "Parallax finds and shows performance bottlenecks in parallel programs.\n\n")
		for _, c := range commands() {
			fmt.Fprintf(w, "  %-11s %s\n", c.name,
				strings.TrimLeft(wrapped(c.summary, "              ", usualWidth), " "))
		}
		fmt.Fprintf(w, "\n%s\n\nExit status\n  %s\n",
			wrapped(sources+
				" `parallax SOURCE` is the same as `parallax open SOURCE`; `parallax` alone opens the home page in a "+
				"terminal; `parallax help VERB` explains each command, `parallax docs` lists the documentation.", "",
				usualWidth), strings.ReplaceAll(exitStatus, "\n", "\n  "))
		return nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			c.describe(w, viewIn(args[1:]))
			return nil
		}
	}
	return usage("help: no command %q%s", args[0], words.Suggest(args[0], commandNames()))
}
