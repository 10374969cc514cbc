package scene

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextWidthIsThatOfTheFont(t *testing.T) {
	// The digits of the Go font are 1139 of 2048 units wide, in both weights.
	for _, bold := range []bool{false, true} {
		one := TextWidth("0", 2048, bold)
		if one < 1000 || one > 1300 {
			t.Errorf("a digit is %v of 2048 wide", one)
		}
		for _, d := range "123456789" {
			if w := TextWidth(string(d), 2048, bold); w != one {
				t.Errorf("digit %c is %v wide, 0 is %v: figures do not line up", d, w, one)
			}
		}
	}
	if a, b := TextWidth("ab", 12, false), TextWidth("a", 12, false)+TextWidth("b", 12, false); a != b {
		t.Errorf("width of ab %v, of a and b %v", a, b)
	}
	if w := TextWidth("é", 12, false); w != TextWidth("e", 12, false) {
		t.Errorf("é is %v wide", w)
	}
}

func TestVisibleMakesActingCharactersHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "µs ≤ 1": "µs ≤ 1", "": "",
		"a\x00b": `a\x00b`, "a\nb\tc\x1b[0m": `a\nb\tc\x1b[0m`,
		"x\u202ey\u202c": `x\u202ey\u202c`, "\u2066z": `\u2066z`, "a\u2028b": `a\u2028b`,
		"\xff": `\xff`, "עברית": "עברית", "a\u00a0b": "a b", "\ufffe": `\ufffe`, "\u0085": `\x85`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if n := utf8.RuneCountInString(Visible(strings.Repeat("long ", 100_000))); n != longest {
		t.Errorf("an endless text is drawn with %d characters, want %d", n, longest)
	}
}

func TestShortenKeepsBothEndsAndFits(t *testing.T) {
	name := "io_utilities_mp_write_netcdf_"
	full := TextWidth(name, 12, false)
	if got := Shorten(name, full, 12); got != name {
		t.Errorf("a text that fits became %q", got)
	}
	got := Shorten(name, full*0.6, 12)
	if !strings.HasPrefix(got, "io_ut") || !strings.HasSuffix(got, "cdf_") || !strings.Contains(got, "…") {
		t.Errorf("shortened to %q", got)
	}
	for _, s := range []string{name, "MPI_Allreduce", strings.Repeat("x", 10_000), strings.Repeat("é́", 3000), "a\x00\x00\x00\x00\x00b", "עברית ועוד עברית", "👩‍👩‍👧‍👦 family 👩‍👩‍👧‍👦 of four", strings.Repeat("\x80", 9000)} {
		for w := float32(0); w < 200; w += 7 {
			short := Shorten(s, w, 12)
			if TextWidth(short, 12, false) > w+0.01 {
				t.Errorf("%.20q at %v became %q, %v wide", s, w, short, TextWidth(short, 12, false))
			}
			if !utf8.ValidString(short) {
				t.Errorf("%.20q at %v became invalid %q", s, w, short)
			}
			if short != "" && utf8.RuneCountInString(short) < 2 {
				t.Errorf("%.20q at %v became %q, says nothing", s, w, short)
			}
		}
	}
}

func TestShortenDoesNotCutAccentsOrEscapes(t *testing.T) {
	s := strings.Repeat("e\u0301", 40)
	for w := float32(20); w < 150; w += 3 {
		short := Shorten(s, w, 12)
		head, tail, _ := strings.Cut(short, "…")
		if strings.HasPrefix(tail, "\u0301") || head != "" && !strings.HasSuffix(head, "\u0301") {
			t.Errorf("at %v an accent was cut off: %q", w, short)
		}
	}
	s = strings.Repeat("\x00", 40)
	for w := float32(60); w < 200; w += 3 {
		if rest := strings.ReplaceAll(strings.Replace(Shorten(s, w, 12), "…", "", 1), `\x00`, ""); rest != "" {
			t.Errorf("at %v an escape was cut: %q remains", w, rest)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("MPI_Send", float32(40))
	f.Add("\xff\u202e\u200d", float32(10))
	f.Fuzz(func(t *testing.T, s string, width float32) {
		short := Shorten(s, width, 12)
		if !utf8.ValidString(short) || width < 1e6 && TextWidth(short, 12, false) > max(width, 0)+0.1 {
			t.Errorf("Shorten(%q, %v) = %q, %v wide", s, width, short, TextWidth(short, 12, false))
		}
	})
}

func BenchmarkShorten(b *testing.B) {
	for name, s := range map[string]string{"short": "MPI_Allreduce", "long": strings.Repeat("a long name ", 100), "endless": strings.Repeat("a long name ", 100_000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Shorten(s, 120, 12)
			}
		})
	}
}

// Labels that differ still differ when they are shortened, as far as there is room.
func TestLabelsThatDifferStayApartWhenShortened(t *testing.T) {
	labels := []string{"rank 0 · P#0T#0", "rank 1 · P#1T#0", "rank 12 · P#12T#0"}
	for _, width := range []float32{60, 70, 80, 200} {
		got := Distinct(labels, width, 12)
		if got[0] == got[1] || got[1] == got[2] || got[0] == "" {
			t.Errorf("%g wide: %q", width, got)
		}
		for _, g := range got {
			if TextWidth(g, 12, false) > width {
				t.Errorf("%q is wider than %g", g, width)
			}
		}
	}
	services := []string{"compose-user-service: compose_creator_with_userid", "compose-text-service: compose_creator_with_userid"}
	for _, width := range []float32{100, 150} {
		for i, got := range Distinct(services, width, 12) {
			if want := []string{"user", "text"}[i]; !strings.Contains(got, want) || TextWidth(got, 12, false) < width-16 {
				t.Errorf("%g wide: %q does not say %q, or leaves room", width, got, want)
			}
		}
	}
	for _, c := range []struct {
		labels, want []string
	}{
		{[]string{"rank 34 · main thread", "rank 37 · main thread"}, []string{"rank 34", "rank 37"}},
		{[]string{"shop/eu/cart", "shop/eu/catalogue"}, []string{"cart", "catalogue"}},
		{[]string{"python3 1 · stream 7", "python3 2 · stream 7 · x"}, nil},
		{[]string{"main thread · rank 0", "main thread"}, nil},
	} {
		for i, got := range Distinct(c.labels, 60, 12) {
			if c.want != nil && got != c.want[i] {
				t.Errorf("%q becomes %q, want %q", c.labels[i], got, c.want[i])
			}
		}
	}
	if got := Distinct([]string{"host", "host"}, 10, 12); got[0] != got[1] {
		t.Errorf("what is the same stays so: %q", got)
	}
	if got := Distinct([]string{"a long name of a row", "a long name of a line"}, 300, 12); got[0] != "a long name of a row" {
		t.Errorf("nothing is cut where there is room: %q", got)
	}
	for _, odd := range [][]string{{"", ""}, {"ä", "ö"}, {"äöü", "äöüäöü"}, {"ab", "abab"}, {"日本語", "日本"}} {
		for width := float32(0); width < 40; width++ {
			Distinct(odd, width, 12)
		}
	}
}

func TestNamesOfASetKeepTheirDifferences(t *testing.T) {
	threads := []string{"THREAD 1.6.1", "THREAD 1.7.1", "THREAD 1.16.1"}
	files := []string{"mpi-scaling-27cores.cali", "mpi-scaling-343cores.cali"}
	ranks := []string{"rank 8", "rank 259"}
	for _, c := range []struct {
		names []string
		i     int
		width float32
		want  string
	}{
		{threads, 0, 200, "THREAD 1.6.1"},
		{threads, 0, 50, "T…1.6.1"},
		{threads, 2, 50, "…1.16.1"},
		{threads, 2, 20, ""},
		{files, 0, 100, "mpi…27cores.cali"},
		{files, 1, 60, "…343co…"},
		{ranks, 1, 30, "259"},
		{[]string{"rank 259"}, 0, 30, "259"},
		{[]string{"rank 259"}, 0, 5, ""},
	} {
		if got := NewApart(c.names).Shorten(c.names[c.i], c.width, 12); got != c.want {
			t.Errorf("%q in %g: %q, want %q", c.names[c.i], c.width, got, c.want)
		}
	}
}

// The page folds names by the same cases (web/src/shell/fold.test.ts).
func TestNamesLoseWhatManyHaveInCommonFirst(t *testing.T) {
	text, err := os.ReadFile("testdata/foldings.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name  string
		Forms []string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if got := foldings(c.Name); !slices.Equal(got, c.Forms) {
			t.Errorf("%s: %q, want %q", c.Name, got, c.Forms)
		}
	}
}

func TestANameIsFoldedOnlyAsFarAsItMust(t *testing.T) {
	name := "cmd/compile/internal/ssa.(*Func).Compile"
	width := func(s string) float32 { return TextWidth(s, TextSize, false) }
	for _, want := range []string{name, "ssa.(*Func).Compile", "(*Func).Compile"} {
		if got := Shorten(name, width(want)+1, TextSize); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Shorten(name, width("(*Func).Compile")-1, TextSize); got != "(*Func…ompile" {
		t.Errorf("past all forms: %q", got)
	}
}

func TestRowsOfTwoPartsStayApartInBoth(t *testing.T) {
	var labels []string
	for _, step := range []string{"3", "4", "5"} {
		for _, rank := range []string{"0", "1", "2"} {
			labels = append(labels, "ProfilerStep#"+step+" · rank "+rank)
		}
	}
	for _, width := range []float32{80, 100, 120} {
		got := Distinct(labels, width, TextSize)
		if seen := slices.Compact(slices.Sorted(slices.Values(got))); len(seen) != len(labels) {
			t.Errorf("%g pixels: %q", width, got)
		}
	}
	ranks := []string{"rank 0 · P#0T#0", "rank 1 · P#1T#0", "rank 10 · P#10T#0"}
	if got, want := Distinct(ranks, 60, TextSize), []string{"rank 0", "rank 1", "rank 10"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNotesAreNotCutInTheirMiddle(t *testing.T) {
	notes := []string{"1,809 links too dense to draw: 9 symbols for those that start near each other", "not shown: 3 locations without intervals"}
	lines := wrapNotes(notes, 300, 4)
	for _, l := range lines {
		if TextWidth(l, noteSize, false) > 300 {
			t.Errorf("%q is too long", l)
		}
	}
	if got, want := strings.Join(lines, " "), strings.Join(notes, "  ·  "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := wrapNotes(append(notes, notes...), 300, 3); len(got) != 3 || !strings.HasSuffix(got[2], "and 2 more notes") {
		t.Errorf("four notes in three lines: %q", got)
	}
}
