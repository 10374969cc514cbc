package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
	"github.com/parallax-hpc/parallax/internal/view/findings"
	text "github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

// gateFlags adds the flags of a gate; unsure says which limits it cannot tell of.
func gateFlags(fs *pflag.FlagSet, unsure string) {
	fs.String("cannot-tell", "status", unsure+": status (exit with 4), pass or fail")
	fs.String("summary", "", "FILE to which a summary in Markdown is added, such as $GITHUB_STEP_SUMMARY; - is stdout")
	fs.String("junit", "", "FILE for the limits as test cases in JUnit's XML, which CI systems show")
}

// unsureFails reports whether limits that are undecided count as failed.
func (e *env) unsureFails() bool { return e.text("cannot-tell") == "fail" }

// gateStatus ends the program by the numbers of limits that are broken and undecided.
func (e *env) gateStatus(broken, unsure int) error {
	switch {
	case broken > 0 || unsure > 0 && e.unsureFails():
		return errSilent
	case unsure > 0 && e.text("cannot-tell") == "status":
		return errCannotTell
	}
	return nil
}

// reportGate writes the files that CI systems show: a summary, and the limits as tests of a suite.
func (e *env) reportGate(suite string, limits []judgment, summary func(io.Writer) error) error {
	if path := e.text("summary"); path != "" {
		if err := e.appendTo(path, summary); err != nil {
			return fmt.Errorf("--summary: %w", err)
		}
	}
	if path := e.text("junit"); path != "" {
		out := &output{stdout: e.stdout, path: path, kind: "xml"}
		write := func(w io.Writer) error { return writeJUnit(w, suite, limits, e.unsureFails()) }
		if err := out.write(write); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	return nil
}

// appendTo adds to a file, since steps of a CI job share one summary.
func (e *env) appendTo(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(e.stdout)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = write(f)
	if bad := f.Close(); err == nil {
		err = bad
	}
	return err
}

const mostSummary = 20 // rows

// writeSummary writes the verdict, the limits, the runs and the largest differences as Markdown.
func writeSummary(w io.Writer, d *compare.Data, notes []string, g gate) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Performance\n\n%s\n\n", markdown(d.Text))
	summariseLimits(&b, g.Limits)
	fmt.Fprintf(&b, "| time per %s | A (%s) | B (%s) | difference | interval of 95 %% | verdict |\n"+
		"| --- | --: | --: | --: | --: | --- |\n", d.Per, view.Count(len(d.A), "run"), view.Count(len(d.B), "run"))
	row := func(r *compare.Row, name string) {
		interval := ""
		if r.ChangeLow != nil && r.ChangeHigh != nil {
			interval = view.FormatSigned("%+.2f%%", 100**r.ChangeLow) + " to " +
				view.FormatSigned("%+.2f%%", 100**r.ChangeHigh)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s (%s) | %s | %s |\n",
			markdown(text.Middle(name)), view.FormatIn(r.A, d.Unit), view.FormatIn(r.B, d.Unit),
			signedIn(r.Shift, d.Unit), changeOf(r), interval, r.Verdict)
	}
	row(&d.Length, "whole "+d.Sum.Of)
	shown := 0
	for i := range d.Rows {
		if r := &d.Rows[i]; shown < mostSummary && r.Verdict != statistics.Same {
			row(r, r.CallPath)
			shown++
		}
	}
	if rest := len(d.Rows) - shown; rest > 0 {
		fmt.Fprintf(&b, "\nand %d more that are the same or differ less\n", rest)
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "\n%s\n", markdown(n))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

func summariseLimits(b *strings.Builder, limits []judgment) {
	if len(limits) == 0 {
		return
	}
	b.WriteString("| limit | |\n| --- | --- |\n")
	for _, x := range limits {
		fmt.Fprintf(b, "| %s | %s %s |\n", markdown(x.Limit), answerSigns[x.Answer], markdown(x.Text))
	}
	b.WriteByte('\n')
}

// writeFindings writes the limits and the first findings of a run as Markdown.
func writeFindings(w io.Writer, source string, d *findings.Data, notes []string, limits []judgment) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Findings of %s\n\n", markdown(source))
	summariseLimits(&b, limits)
	if len(d.Findings) == 0 {
		b.WriteString("nothing stands out\n")
	} else {
		b.WriteString("| finding | severity | time lost | |\n| --- | --- | --: | --- |\n")
	}
	for i := range d.Findings[:min(len(d.Findings), mostSummary)] {
		f := &d.Findings[i]
		lost := ""
		if f.Lost > 0 {
			lost = fmt.Sprintf("%s (%s of %s)", view.FormatIn(float64(f.Lost), f.Unit), view.FormatShare(f.Share),
				f.ShareOf)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Kind, f.Severity, lost, markdown(f.Text))
	}
	if rest := len(d.Findings) - mostSummary; rest > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", rest)
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "\n%s\n", markdown(n))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

var answerSigns = map[statistics.Answer]string{statistics.Holds: "✓", statistics.Broken: "✗",
	statistics.CannotTell: "?"}

// markdown escapes characters with a meaning in Markdown or HTML: names in traces come from others.
func markdown(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("|`*_[]\\#~!@", c):
			fmt.Fprintf(&b, "&#%d;", c)
		case c < ' ':
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
}

// writeJUnit writes a test case for each limit: failed if it is surely exceeded, skipped or failed if that is not
// certain.
func writeJUnit(w io.Writer, name string, limits []judgment, unsureFails bool) error {
	suite := junitSuite{Name: "parallax " + name, Tests: len(limits)}
	for _, x := range limits {
		c := junitCase{Class: "parallax." + name, Name: x.Limit}
		switch {
		case x.Answer == statistics.Broken || x.Answer == statistics.CannotTell && unsureFails:
			c.Failure = &junitMessage{x.Text}
			suite.Failures++
		case x.Answer == statistics.CannotTell:
			c.Skipped = &junitMessage{x.Text}
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
	}
	b, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(b)+"\n")
	return err
}
