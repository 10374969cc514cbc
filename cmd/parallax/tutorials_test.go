package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tutorial is a page whose commands are run and whose numbers are looked for in what they
// print. A fenced block `console` holds commands, each after "$ ", and what each prints.
// Commands run at the top of a checkout; besides parallax there is `cat FILE`, and output
// goes through `| head -N`, `| tail -N` and `| grep WORDS`. Pictures that the page shows are
// made by its commands: `-o NAME.png` is pictures/NAME.png of the page.
func TestTutorialsSayWhatTheProgramPrints(t *testing.T) {
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob(filepath.Join(docs, "tutorials", "*.md"))
	if len(pages) < 6 {
		t.Fatalf("%d tutorials in %s", len(pages), docs)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(docs, filepath.Join(dir, "docs")); err != nil {
				t.Skipf("no links to files here: %v", err)
			}
			t.Chdir(dir)
			b, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			text, printed := runPage(t, string(b))
			if text != string(b) {
				if viewtest.Updating() {
					if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				} else {
					t.Errorf("the program prints something else; -update rewrites the blocks, then read the prose again\n%s", firstDifference(string(b), text))
				}
			}
			for _, n := range unfounded(text, printed) {
				t.Errorf("%q stands in the text and in nothing that its commands print", n)
			}
			checkPictures(t, text, filepath.Join(docs, "tutorials", "pictures"), dir)
		})
	}
}

// runPage gives the page with what its commands print now, and all of that in one text,
// before heads and tails were cut from it.
func runPage(t *testing.T, page string) (text, printed string) {
	var out, all strings.Builder
	var inside, commands bool
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
			commands = inside && strings.TrimSpace(line) == "```console"
			out.WriteString(line)
		case commands && strings.HasPrefix(line, "$ "):
			out.WriteString(line)
			whole, shown := runLine(t, strings.TrimSpace(line[2:]))
			all.WriteString(line + whole)
			out.WriteString(shown)
		case !commands:
			out.WriteString(line)
			if inside {
				all.WriteString(line)
			}
		}
	}
	return out.String(), all.String()
}

// runLine runs one command line.
func runLine(t *testing.T, line string) (whole, shown string) {
	t.Helper()
	parts := strings.Split(line, " | ")
	args := wordsOf(parts[0])
	switch args[0] {
	case "parallax":
		status, stdout, stderr := parallax(t, args[1:]...)
		if whole = stdout + stderr; status != 0 && !(status == 1 && stdout != "" && stderr == "") {
			t.Errorf("$ %s\nstatus %d: %s", line, status, stderr)
		}
	case "cat":
		b, err := os.ReadFile(args[1])
		if err != nil {
			t.Error(err)
		}
		whole = string(b)
	default:
		t.Fatalf("$ %s: a tutorial runs parallax and cat", line)
	}
	shown = whole
	for _, p := range parts[1:] {
		shown = through(t, shown, wordsOf(p))
	}
	var tidy strings.Builder
	for l := range strings.Lines(shown) {
		tidy.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
	return whole, tidy.String()
}

func through(t *testing.T, text string, filter []string) string {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(filter[1], "-"))
	switch {
	case filter[0] == "grep":
		lines = slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, filter[1]) })
	case filter[0] == "head" && err == nil:
		lines = lines[:min(n, len(lines))]
	case filter[0] == "tail" && err == nil:
		lines = lines[max(0, len(lines)-n):]
	default:
		t.Fatalf("| %s: want head -N, tail -N or grep WORDS", strings.Join(filter, " "))
	}
	return strings.Join(lines, "")
}

// words splits a command line; quotes keep words together.
func wordsOf(line string) (out []string) {
	for _, m := range word.FindAllString(line, -1) {
		out = append(out, quoted.ReplaceAllString(m, "$1$2"))
	}
	return out
}

var (
	quoted   = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)
	word     = regexp.MustCompile(`(?:[^\s'"]+|'[^']*'|"[^"]*")+`)
	notProse = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->|(?m:^\\d+\\. )")
	number   = regexp.MustCompile(`[\pL\d][\d,.]*`)
)

// unfounded gives the numbers of the prose that no command printed. Numbers in words,
// in code and in names (H200) are left alone.
func unfounded(page, printed string) (out []string) {
	prose := notProse.ReplaceAllString(page, " ")
	for _, field := range strings.FieldsFunc(prose, func(r rune) bool { return strings.ContainsRune(" \n()[]|*:;–-", r) }) {
		n := strings.TrimRight(number.FindString(field), ".,")
		if n == "" || n[0] < '0' || n[0] > '9' {
			continue
		}
		if !regexp.MustCompile(`(?:^|[^\d.,])` + regexp.QuoteMeta(n) + `(?:$|[^\d])`).MatchString(printed) {
			out = append(out, n)
		}
	}
	return out
}

var shownPicture = regexp.MustCompile(`!\[[^\]]*\]\(pictures/([^)]+)\)`)

// checkPictures holds that every picture of a page is made by a command of the page.
func checkPictures(t *testing.T, page, kept, made string) {
	for _, m := range shownPicture.FindAllStringSubmatch(page, -1) {
		b, err := os.ReadFile(filepath.Join(made, m[1]))
		if err != nil {
			t.Errorf("no command of the page makes %s", m[1])
			continue
		}
		name := filepath.Join(kept, m[1])
		if viewtest.Updating() {
			if err := os.MkdirAll(kept, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		shown, err := readPNG(name)
		if err != nil {
			t.Errorf("%v; -update takes it", err)
			continue
		}
		now, err := readPNG(filepath.Join(made, m[1]))
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(shown, now); d > 0.03 {
			t.Errorf("%s: %.1f %% of the pixels are not what the command draws now; look, and -update takes it", m[1], 100*d)
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n  page    %s\n  program %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("the page has %d lines, the program makes %d", len(x), len(y))
}

func TestNumbersInProseMustHaveBeenPrinted(t *testing.T) {
	page := "Rank 5 waits 605 ms of 1,234 on an H200, with `--size 9x9`.\n\n1. 7 ranks, three of them late"
	if got := unfounded(page, "rank 5\n605 ms"); !slices.Equal(got, []string{"1,234", "7"}) {
		t.Errorf("%q", got)
	}
}

// What the page on figures for papers says of files, letters and colours.
func TestAPaperFigureIsWhatItsPageSays(t *testing.T) {
	dir := t.TempDir()
	made := map[string][]byte{}
	for _, name := range []string{"a.svg", "a.pdf", "a.png", "b.svg", "b.pdf", "b.png"} {
		name = filepath.Join(dir, name)
		if status, _, stderr := parallax(t, "view", "timeline", "demo:stencil", "--from", "100ms", "--to", "300ms", "--locations", "rank:32-55", "--size", "84x63mm", "-o", name); status != 0 {
			t.Fatal(stderr)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		made[filepath.Base(name)] = b
	}
	for _, kind := range []string{"svg", "pdf", "png"} {
		if string(made["a."+kind]) != string(made["b."+kind]) {
			t.Errorf("%s: other bytes the second time", kind)
		}
	}
	svg, pdf := string(made["a.svg"]), string(made["a.pdf"])
	sizes := map[string]bool{}
	for _, m := range regexp.MustCompile(`font-size="(\d+)"`).FindAllStringSubmatch(svg, -1) {
		sizes[m[1]] = true
	}
	if !sizes["12"] || !sizes["11"] || len(sizes) != 2 || !strings.Contains(svg, "<text ") || strings.Contains(svg, "<image ") {
		t.Errorf("letters of %v; want texts of 12 and 11 pixels and no image", sizes)
	}
	if !strings.Contains(svg, `width="84mm" height="63.06mm" viewBox="0 0 357 268"`) { // 12 of 357 in 84 mm are 8 points
		t.Error("the SVG is of another size")
	}
	if !strings.Contains(pdf, "/MediaBox [0 0 238.11 178.75]") || !strings.Contains(pdf, "/FontFile2") || strings.Contains(pdf, "/Subtype /Image") {
		t.Error("the PDF is of another size, lacks its fonts, or is an image")
	}
	lightness := func(r trace.Role) float64 {
		c := scene.RoleColour(uint8(r)).RGBA(scene.Light)
		return 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
	}
	if d := lightness(trace.RoleCompute) - lightness(trace.RoleCommunication); d < -10 || d > 10 {
		t.Errorf("computing and communication differ by %.0f in lightness: the page warns of it for nothing", d)
	}
}
