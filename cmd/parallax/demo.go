package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/demo/write"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

func demoCommand() *command {
	return &command{
		name: "demo", args: "[NAME | --list]", summary: "open a generated run with documented problems",
		help: "Parallax generates each demo and states its problems.\n\n  parallax demo\n  parallax demo training\n " +
			" parallax view timeline demo:stencil -o stencil.svg",
		flags: func(fs *pflag.FlagSet) {
			fs.Bool("list", false, "list the demos with their problems")
			openFlags(fs)
		},
		run: runDemo,
	}
}

func runDemo(ctx context.Context, e *env, args []string) error {
	if e.flag("list") {
		for _, d := range demo.Demos {
			fmt.Fprintf(e.stdout, "demo:%s  %s\n", d.Name, d.Title)
			for _, t := range d.Truth {
				fmt.Fprintf(e.stdout, "  - %s\n", t)
			}
		}
		return nil
	}
	name := "stencil"
	if len(args) > 1 {
		return usage("demo: want one name")
	}
	if len(args) == 1 {
		name = strings.TrimPrefix(args[0], "demo:")
	}
	d, _, err := load.FindDemo(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s\nWhat a correct tool must show:\n", d.Title)
	for _, t := range d.Truth {
		fmt.Fprintf(e.stdout, "  - %s\n", t)
	}
	return runOpen(ctx, e, []string{"demo:" + name})
}

func genCommand() *command {
	return &command{
		name: "gen", args: "NAME --format FORMAT -o PATH", summary: "write a demo in a real format at any scale",
		help: "The same arguments give the same bytes.\n\n  parallax gen training --format kineto --locations 64 -o " +
			"job/\n  parallax gen stencil --format chrome --intervals 1000000 -o stencil.json",
		flags: func(fs *pflag.FlagSet) {
			fs.String("format", "chrome", "chrome, kineto, otf2, paje or tau")
			fs.Int64("locations", 0, "number of ranks or GPUs; 0: that of the demo")
			fs.Int64("intervals", 0, "approximate number of intervals; 0: that of the demo")
			fs.Bool("balanced", false, "without the injected problems")
			fs.String("fault", "",
				"for training: the only problem of the job, one of "+strings.Join(demo.TrainingFaults, ", "))
			fs.StringP("output", "o", "", "file or directory to write")
		},
		run: runGen,
	}
}

func runGen(ctx context.Context, e *env, args []string) error {
	if len(args) != 1 || e.text("output") == "" {
		return usage("gen: want NAME and -o PATH; `parallax demo --list` lists the names")
	}
	d, o, err := load.FindDemo(strings.TrimPrefix(args[0], "demo:"))
	if err != nil {
		return err
	}
	if n := e.number("locations"); n > 0 {
		o.Locations = int(n)
	}
	if n := e.number("intervals"); n > 0 {
		o.Intervals = n
	}
	o.Balanced = o.Balanced || e.flag("balanced")
	if fault := e.text("fault"); fault != "" {
		if d.Name != "training" || !slices.Contains(demo.TrainingFaults, fault) {
			return words.NotOneOf("--fault", fault, demo.TrainingFaults...)
		}
		o.Fault = fault
	}
	var formats []string
	for _, f := range write.Formats {
		formats = append(formats, f.Name)
	}
	if err := e.among("format", formats...); err != nil {
		return err
	}
	path := e.text("output")
	left, err := demo.Generate(ctx, d, e.text("format"), o, path)
	if err != nil {
		return fmt.Errorf("gen %s: %w", d.Name, err)
	}
	size := load.TreeSize(path)
	if i, err := os.Stat(path); err == nil && !i.IsDir() {
		size = i.Size()
	}
	fmt.Fprintf(e.stdout, "%s: %s\n", filepath.Clean(path), view.FormatBytes(float64(size)))
	for _, x := range left {
		fmt.Fprintf(e.stdout, "left out: %d %s\n", x.Count, x.What)
	}
	return nil
}
