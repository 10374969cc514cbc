package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
)

func verifyCommand() *command {
	return &command{
		name: "verify", args: "RUN.plx",
		summary: "check a whole store for damage, and list the usable parts",
		help: "Views check the parts that they read. This command reads everything, for stores that were copied or " +
			"stored for long. The exit status is 1 if a part is damaged.\n\n  parallax verify run.plx",
		flags: func(fs *pflag.FlagSet) {
			memoryFlag(fs)
			fs.Bool("json", false, "as one JSON object")
		},
		run: runVerify,
	}
}

func runVerify(ctx context.Context, e *env, args []string) error {
	if len(args) != 1 {
		return usage("want one store; `parallax import SOURCE -o RUN.plx` makes one")
	}
	if !load.IsStore(args[0]) {
		return usage("%s is no store; `parallax import SOURCE -o RUN.plx` makes one", args[0])
	}
	x, err := local.Examine(ctx, args[0])
	if err != nil {
		return err
	}
	if e.flag("json") {
		if err := json.NewEncoder(e.stdout).Encode(x); err != nil {
			return err
		}
	} else {
		printExamination(e, args[0], x)
	}
	if len(x.Damaged) > 0 || x.Cannot != "" {
		return errSilent
	}
	return nil
}

func printExamination(e *env, path string, x *local.Examination) {
	w := plain{e.stdout}
	if len(x.Damaged) == 0 && x.Cannot == "" {
		fmt.Fprintf(w, "%s: whole, %s in %d files\n", path, view.FormatBytes(float64(x.Bytes)), x.Files)
		return
	}
	fmt.Fprintf(w, "%s: %d of %d files are damaged\n", path, len(x.Damaged), x.Files)
	for _, d := range x.Damaged {
		fmt.Fprintf(w, "  %-28s %s", d.Name, d.Why)
		for i, b := range d.Blocks {
			if i == 4 {
				fmt.Fprintf(w, ", and %d more places", len(d.Blocks)-i)
				break
			}
			fmt.Fprintf(w, ", bytes %d to %d", b[0], b[1])
		}
		fmt.Fprintln(w)
	}
	if x.Cannot != "" {
		fmt.Fprintf(w, "it cannot be opened: %s\n", x.Cannot)
	} else {
		if x.Locations > 0 {
			fmt.Fprintf(w, "intervals of %d of %d locations are concerned: views of these may fail\n",
				x.Locations, x.Of)
		}
		list := func(label string, words []string) {
			if len(words) > 0 {
				fmt.Fprintf(w, "%s:\n  %s\n", label, strings.Join(words, "\n  "))
			}
		}
		list("may fail, with an error", x.Lost)
		list("can be used", x.Usable)
	}
	fmt.Fprintf(w, "to have it whole: parallax import %s -o %s\n", strings.Join(x.Sources, " "), path)
}
