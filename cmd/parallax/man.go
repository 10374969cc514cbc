package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// exitStatus explains the program's status; help, the man page and the documents print it.
const exitStatus = `0  done
1  the input cannot be read or has no answer, or a limit is exceeded
2  wrong usage: an unknown command, option, value, limit or region
3  internal error; the message has its place
4  too few runs, or no number, to decide on a limit`

// environment lists the environment variables that the program reads.
const environment = `PARALLAX_CACHE  directory of imported stores, instead of the user's cache directory
NO_COLOR        nothing changes: the program prints no colours`

// writeMan writes the man page, from the commands.
func writeMan(w io.Writer) {
	fmt.Fprintf(w,
		".TH PARALLAX 1 \"\" \"parallax %s\" \"User commands\"\n.SH NAME\nparallax \\- find and show performance "+
			"bottlenecks in parallel programs\n.SH SYNOPSIS\n", troff(version()))
	for _, c := range commands() {
		fmt.Fprintf(w, ".B parallax %s\n%s\n.br\n", troff(c.name), troff(c.args))
	}
	fmt.Fprintf(w,
		".SH DESCRIPTION\nParallax reads traces and profiles of parallel programs, stores them in columns, "+
			"and shows them in linked views, in the browser and as files.\n%s\n", troff(sources))
	fmt.Fprint(w, ".SH COMMANDS\n")
	for _, c := range commands() {
		fmt.Fprintf(w, ".SS parallax %s %s\n%s\n", troff(c.name), troff(c.args), troff(sentence(c.summary)))
		if c.help != "" {
			fmt.Fprintf(w, ".PP\n.nf\n%s\n.fi\n", troff(strings.TrimRight(c.help, "\n")))
		}
		fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
		fs.SortFlags = false
		if c.flags != nil {
			c.flags(fs)
		}
		fs.VisitAll(func(f *pflag.Flag) {
			short := ""
			if f.Shorthand != "" {
				short = "\\-" + f.Shorthand + ", "
			}
			fmt.Fprintf(w, ".TP\n.B %s\\-\\-%s\n%s\n", short, troff(f.Name), troff(f.Usage))
		})
	}
	fmt.Fprintf(w,
		".SH EXIT STATUS\n.nf\n%s\n.fi\n.SH ENVIRONMENT\n.nf\n%s\n.fi\n.SH SEE ALSO\nparallax docs: tutorials and a "+
			"page for each view and format\n", troff(exitStatus), troff(environment))
}

// troff returns text for troff: no line is a request, and signs are escaped.
func troff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
