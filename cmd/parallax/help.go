package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

// flagGroups are the options that several commands share, each with its heading in the help.
var flagGroups = []struct {
	title string
	flags func(*pflag.FlagSet)
}{
	{"Selection", selectionFlags},
	{"Program source", sourceFlags},
	{"Server", servingFlags},
	{"Reading", readingFlags},
}

// describe writes the help of a command: its own options first, then those that it shares with others. Options of
// views are listed for one view only: there are more than ninety.
func (c *command) describe(w io.Writer, v *view.View) {
	if v != nil && c.name == "view" {
		fmt.Fprintf(w, "parallax view %s SOURCE [-o FILE] [--size WxH]\n\n%s\n", v.Name,
			wrapped(v.Title+": "+v.Summary+".", "", width(w)))
	} else {
		fmt.Fprintf(w, "parallax %s %s\n\n%s.\n", c.name, c.args, c.summary)
		if c.help != "" {
			fmt.Fprintf(w, "\n%s\n", paragraphs(strings.Trim(c.help, "\n"), max(width(w), usualWidth)))
		}
	}
	own := newFlags(c.name, c.flags)
	if c.name == "view" {
		own = without(own, newFlags("", optionFlags))
		writeOptions(w, v)
	}
	var groups []*pflag.FlagSet
	for _, g := range flagGroups {
		shared := common(newFlags("", g.flags), own)
		groups = append(groups, shared)
		own = without(own, shared)
	}
	writeFlags(w, "Options", own)
	for i, g := range flagGroups {
		writeFlags(w, g.title, groups[i])
	}
}

// viewIn returns the view that is named first among the arguments, or nil.
func viewIn(args []string) *view.View {
	i := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if i < 0 {
		return nil
	}
	return findView(args[i])
}

func newFlags(name string, define func(*pflag.FlagSet)) *pflag.FlagSet {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.SetNormalizeFunc(presentName)
	if define != nil {
		define(fs)
	}
	return fs
}

// common returns the flags of a that b has too.
func common(a, b *pflag.FlagSet) *pflag.FlagSet {
	return filtered(a, func(f *pflag.Flag) bool { return b.Lookup(f.Name) != nil })
}

// without returns the flags of a that b does not have.
func without(a, b *pflag.FlagSet) *pflag.FlagSet {
	return filtered(a, func(f *pflag.Flag) bool { return b.Lookup(f.Name) == nil })
}

func filtered(fs *pflag.FlagSet, keep func(*pflag.Flag) bool) *pflag.FlagSet {
	out := newFlags("", nil)
	fs.VisitAll(func(f *pflag.Flag) {
		if keep(f) {
			out.AddFlag(f)
		}
	})
	return out
}

// writeOptions lists the options of a view, or states how to list them.
func writeOptions(w io.Writer, v *view.View) {
	if v == nil {
		fmt.Fprintf(w, "\n`parallax view VIEW --help` lists the options of one view.\n")
		return
	}
	if len(v.Options) == 0 {
		return
	}
	fmt.Fprintf(w, "\nOptions of %s\n", v.Name)
	for _, o := range v.Options {
		text := o.Help
		if len(o.Choices) > 0 {
			text += ": " + strings.Join(o.Choices, ", ")
		}
		writeOption(w, "      --"+o.Name+valueOf(o), text, o.Default)
	}
}

// valueOf returns the placeholder for the value of a view's option.
func valueOf(o view.Option) string {
	switch o.Kind {
	case "switch":
		return ""
	case "number", "integer":
		return " N"
	case "choice":
		return " WORD"
	case "file":
		return " FILE"
	}
	return " TEXT"
}

func writeFlags(w io.Writer, title string, fs *pflag.FlagSet) {
	if !fs.HasFlags() {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	fs.VisitAll(func(f *pflag.Flag) {
		left := "      --" + f.Name
		if f.Shorthand != "" {
			left = "  -" + f.Shorthand + ", --" + f.Name
		}
		def := f.DefValue
		if def == "[]" || strings.Contains(f.Usage, "(default") {
			def = ""
		}
		writeOption(w, left+placeholder(f), f.Usage, def)
	})
}

// placeholder returns the name of a flag's value: the word in capitals that its text begins with, or one for its type.
func placeholder(f *pflag.Flag) string {
	first, _, _ := strings.Cut(f.Usage, " ")
	word := strings.TrimRight(first, ",:;")
	switch {
	case f.Value.Type() == "bool":
		return ""
	case len(word) > 1 && word == strings.ToUpper(word) && word[0] >= 'A' && word[0] <= 'Z':
		return " " + word
	case f.Value.Type() == "int64":
		return " N"
	case f.Value.Type() == "duration":
		return " TIME"
	}
	return " TEXT"
}

// writeOption writes one option: its name on the left, its text in a column of its own.
func writeOption(w io.Writer, left, text, def string) {
	const column = 30
	if def != "" && def != "0" && def != "false" {
		text += " (default " + def + ")"
	}
	body := wrapped(text, strings.Repeat(" ", column), max(width(w), usualWidth))
	if utf8.RuneCountInString(left) < column-1 {
		body = left + body[utf8.RuneCountInString(left):]
	} else {
		body = left + "\n" + body
	}
	fmt.Fprintln(w, body)
}

// paragraphs breaks the lines of text; indented lines, which are lists and examples, stay as they are.
func paragraphs(text string, columns int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l != "" && !strings.HasPrefix(l, " ") {
			lines[i] = wrapped(l, "", columns)
		}
	}
	return strings.Join(lines, "\n")
}
