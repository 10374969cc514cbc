package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/parallax-hpc/parallax/recorder/source"
)

func recorderCommand() *command {
	var list strings.Builder
	for _, r := range source.Recorders() {
		fmt.Fprintf(&list, "  %-11s %s\n", r.Name, r.Title)
	}
	return &command{
		name:    "recorder",
		args:    "KIND",
		summary: "write a recorder that gathers moments while a program runs",
		help: "A recorder gathers moments of utilization, times of calls and amounts of messages while a program " +
			"runs, in constant memory, without a trace. KIND:\n\n" +
			list.String() +
			"\nIt is one file to compile; the first lines say which settings it takes. What it writes is a directory " +
			"that `parallax open` shows.\n\n" +
			"  parallax recorder mpi\n  mpicc -O2 -shared -fPIC -o libparallax.so parallax_mpi.c -ldl\n  mpirun -n " +
			"16 env LD_PRELOAD=$PWD/libparallax.so ./program\n  parallax open parallax-program-*",
		flags: func(fs *pflag.FlagSet) {
			fs.StringP("out", "o", "", "where to write it; - is standard output")
		},
		run: runRecorder,
	}
}

func runRecorder(_ context.Context, e *env, args []string) error {
	var names []string
	for _, r := range source.Recorders() {
		names = append(names, r.Name)
		if len(args) == 1 && args[0] == r.Name {
			return writeRecorder(e, r)
		}
	}
	return words.NotOneOf("recorder", strings.Join(args, " "), names...)
}

func writeRecorder(e *env, r source.Recorder) error {
	text, err := r.Text()
	if err != nil {
		return err
	}
	name := e.text("out")
	switch name {
	case "-":
		_, err := e.stdout.Write(text)
		return err
	case "":
		name = r.File
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, "wrote", name)
	if r.Build != "" {
		fmt.Fprintf(e.stdout, "next:\n  %s\n  parallax open parallax-program-*\n",
			strings.ReplaceAll(strings.ReplaceAll(r.Build, r.File, name), "\n", "\n  "))
	}
	return nil
}
