package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/sourcefile"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// readingFlags are the options of every command that reads a source.
func readingFlags(fs *pflag.FlagSet) {
	fs.String("format", "", "read as this format, skip detection")
	fs.Bool("join", false,
		"read several files as one run, on one clock: the processes of a job, the compilers of a build; FILE@+1.5s "+
			"adds an offset to the times of one file")
	fs.String("align", "auto",
		"correct clock skew: auto (if clocks disagree), none; messages or collectives use only these, and also if "+
			"clocks agree")
	fs.String("names", "folded",
		"names of regions: folded (without addresses, ids and temporary files, so that a function is one region on "+
			"all ranks; the attribute \"raw name\" has the full name) or raw (as in the source)")
	memoryFlag(fs)
	fs.String("cache", "", "directory of imported stores (default: the user's cache directory)")
	fs.Bool("quiet", false, "print errors only: no progress, no notes")
	fs.String("progress", "auto",
		"progress on standard error: auto (a bar on a terminal), json (one object per line), none")
	fs.Bool("verify", false, "hash whole files instead of size, time and both ends; verify the checksums of the store")
}

func memoryFlag(fs *pflag.FlagSet) {
	fs.String("memory", "",
		"memory limit, such as 2GiB, for imports, views and open runs together (default: a quarter of the machine's)")
}

// selectionFlags are the selection, the same for every view.
func selectionFlags(fs *pflag.FlagSet) {
	fs.String("from", "", "begin of the time range: 1.5s, 200ms, 30%")
	fs.String("to", "", "end of the time range")
	fs.StringArray("locations", nil,
		"locations by glob on path or name, re:EXPR, rank:N or rank:N-M, kind:NAME such as kind:processor, or ids as "+
			"#N,N-M; repeatable")
	fs.StringArray("regions", nil, "regions by glob on name, re:EXPR, role:NAME or category:NAME; repeatable")
}

// sourceFlags say where the program's own source is.
func sourceFlags(fs *pflag.FlagSet) {
	fs.StringArray("source", nil,
		"DIR with the source code of the program; the view source shows only files below it; repeatable")
	fs.StringArray("trim", nil, "PREFIX that is removed from recorded paths before files are searched; repeatable")
	fs.String("editor", "none",
		"links to an editor: vscode, cursor, jetbrains, none, or a template with {file}, {rel}, {project}, {line}, "+
			"{column}")
}

// sources returns the finder of source files; nil if no directory is named.
func (e *env) sources() (*sourcefile.Finder, error) {
	dirs, editor := e.list("source"), e.text("editor") // "" of a command without this option
	if editor != "" {
		var err error
		if editor, err = sourcefile.ParseEditor(editor); err != nil {
			return nil, usageOf(err)
		}
	}
	if len(dirs) == 0 {
		if editor != "" || len(e.list("trim")) > 0 {
			return nil, usage("--editor and --trim are for files below a directory: add --source DIR")
		}
		return nil, nil
	}
	for _, dir := range dirs {
		if i, err := os.Stat(dir); err != nil || !i.IsDir() {
			return nil, usage("--source %s: want a directory with source files", dir)
		}
	}
	return &sourcefile.Finder{Roots: dirs, Trim: e.list("trim"), Editor: editor}, nil
}

// presentName returns the name of a flag that was renamed, whose old name is accepted for one release, or that is
// written in the singular.
func presentName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "region":
		name = "regions"
	case "hues":
		name = "region-colours"
	case "audit":
		name = "access-log"
	}
	return pflag.NormalizedName(view.OptionName(name))
}

// optionFlags are the one table of options.
func optionFlags(fs *pflag.FlagSet) {
	for _, o := range view.OptionTable {
		text := o.Help
		if len(o.Choices) > 0 {
			text += ": " + strings.Join(o.Choices, ", ")
		}
		if o.Kind == "switch" {
			fs.Bool(o.Name, false, text)
		} else {
			fs.StringArray(o.Name, nil, text)
		}
	}
}

// among refuses a value of an option that is none of the known.
func (e *env) among(option string, known ...string) error {
	if typed := e.text(option); !slices.Contains(known, typed) {
		return words.NotOneOf("--"+option, typed, known...)
	}
	return nil
}

// bareFlags gives options that may stand without a value the one they mean then: the next argument is no value if
// it is another flag, or names a source or a view.
func bareFlags(args []string) []string {
	out := make([]string, 0, len(args))
	for i, a := range args {
		for _, o := range view.OptionTable {
			if o.Bare != "" && a == "--"+o.Name && (i+1 == len(args) || !isBareValue(args[i+1])) {
				a += "=" + o.Bare
			}
		}
		out = append(out, a)
	}
	return out
}

// isBareValue reports whether an argument is a value of such an option: a word for where
// something is drawn, or a width.
func isBareValue(a string) bool {
	switch a {
	case "none", "beside", "behind", "true", "false":
		return true
	}
	_, err := strconv.ParseFloat(strings.TrimSuffix(a, "%"), 64)
	return err == nil
}

// optionValues returns the view options that the user set.
func (e *env) optionValues() map[string][]string {
	set := map[string][]string{}
	for _, o := range view.OptionTable {
		switch {
		case !e.flags.Changed(o.Name):
		case o.Kind == "switch":
			set[o.Name] = []string{strconv.FormatBool(e.flag(o.Name))}
		default:
			set[o.Name] = e.list(o.Name)
		}
	}
	return set
}

// readFiles replaces the value of an option that is a file, FILE[:NAME], by its text: views never open files
// themselves. Values that name no file stay as they are.
func readFiles(set map[string][]string) error {
	for _, o := range view.OptionTable {
		if o.Kind != "file" || len(set[o.Name]) != 1 {
			continue
		}
		path, name := set[o.Name][0], ""
		if _, err := os.Stat(path); err != nil {
			if cut := strings.LastIndexByte(path, ':'); cut > 0 {
				path, name = path[:cut], path[cut+1:]
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if info.Size() > 1<<20 {
			return fmt.Errorf("--%s %s: the file has %s, more than a layout may", o.Name, path,
				view.FormatBytes(float64(info.Size())))
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("--%s: %w", o.Name, err)
		}
		set[o.Name] = []string{"text:" + name + "\n" + string(text)}
	}
	return nil
}

func (e *env) spec() view.Spec {
	return view.Spec{From: e.text("from"), To: e.text("to"), Locations: e.list("locations"), Regions: e.list("regions")}
}

// parseSize reads "256MiB", "2G", "1000000".
func parseSize(s string) (int64, error) {
	num := strings.TrimRight(s, "KMGTiBkb")
	unit := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s[len(num):]), "B"), "I"))
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || !ok || f < 0 || f > 1<<20 && shift > 20 {
		return 0, fmt.Errorf("size %q: want a number with KiB, MiB, GiB or TiB", s)
	}
	return int64(f * float64(int64(1)<<shift)), nil
}

// parsePicture reads --size.
func parsePicture(s string) (scene.Picture, error) {
	p, err := scene.ParsePicture(s)
	if err != nil {
		return p, usage("--size %q: %v", s, err)
	}
	return p, nil
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isSource reports whether an argument names something to open.
func isSource(s string) bool {
	if strings.HasPrefix(s, "demo:") || clickhouse.IsAddress(s) {
		return true
	}
	_, err := os.Stat(s)
	return err == nil
}
