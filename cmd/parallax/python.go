package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/parallax-hpc/parallax/internal/python"
)

func pythonCommand() *command {
	return &command{
		name: "python", args: "[-o parallax.py]",
		summary: "write the Python module for notebooks: runs, findings, rows and pictures",
		help: "The module is one file for Python 3.8 or newer without dependencies; it starts this program as a " +
			"child. " +
			"It finds the program by $PARALLAX, in its own directory, or on PATH.\n\n" +
			"  parallax python\n  python3 -c 'import parallax; print(parallax.open(\"run.otf2\").findings())'",
		flags: func(fs *pflag.FlagSet) {
			fs.StringP("out", "o", "parallax.py", "where to write it; - is standard output")
		},
		run: runPython,
	}
}

func runPython(_ context.Context, e *env, args []string) error {
	if len(args) > 0 {
		return usage("python: takes no argument; -o FILE names the file to write")
	}
	name := e.text("out")
	if name == "-" {
		_, err := e.stdout.Write(python.Module)
		return err
	}
	if err := os.WriteFile(name, python.Module, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, "wrote", name)
	return nil
}
