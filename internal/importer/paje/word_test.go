package paje

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestTimesAreExact(t *testing.T) {
	for _, c := range []struct {
		text    string
		unit    unit
		want    trace.Time
		rounded bool
	}{
		{"0", seconds, 0, false},
		{"0.000001", seconds, 1000, false},
		{"12.345678901", seconds, 12345678901, false},
		{"12.3456789014", seconds, 12345678901, true},
		{"12.3456789015", seconds, 12345678902, true},
		{"0.1000000000000", seconds, 100000000, false},
		{".5", seconds, 500000000, false},
		{"7.", seconds, 7000000000, false},
		{"-1.5", seconds, -1500000000, false},
		{"+2", seconds, 2000000000, false},
		{"1e-06", seconds, 1000, false},
		{"2.5E+2", seconds, 250000000000, false},
		{"40704.498590000", milliseconds, 40704498590, false},
		{"1792345678.123456789", seconds, 1792345678123456789, false}, // more than a float64 holds
		{"9007199254.740993001", seconds, -1, false},                  // further than 146 years
		{"99999999999999999999", seconds, -1, false},
		{"nan", seconds, -1, false}, {"inf", seconds, -1, false}, {"", seconds, -1, false}, {".", seconds, -1, false},
		{"1.2.3", seconds, -1, false}, {"12x", seconds, -1, false}, {"1e400", seconds, -1, false}, {"-", seconds, -1, false},
	} {
		got, rounded, ok := parseTime([]byte(c.text), c.unit)
		if !ok {
			got = -1
		}
		if got != c.want || rounded != c.rounded {
			t.Errorf("%q is %d ns (rounded %v), want %d (%v)", c.text, got, rounded, c.want, c.rounded)
		}
	}
}

func TestWordsAreCutAtBlanksAndQuotes(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "",
		"  \t ":                    "",
		"# all of it":              "",
		"12 0.5\tS  r0 c":          "12|0.5|S|r0|c",
		`6 "a b" "" c`:             "6|a b||c",
		`6 "no end of it`:          "6|no end of it",
		"7 a # b c":                "7|a",
		`7 P#3 "x # y" z`:          "7|P#3|x # y|z",
		"8 a\r":                    "8|a",
		`9 "a"b`:                   "9|a|b",
		strings.Repeat("x ", 1000): strings.TrimSuffix(strings.Repeat("x|", 1000), "|"),
	} {
		var words []string
		for i := 0; ; {
			w, next, quoted := word([]byte(line), i)
			if len(w) == 0 && quoted == 0 {
				break
			}
			words = append(words, string(w))
			i = next
		}
		if got := strings.Join(words, "|"); got != want {
			t.Errorf("%q is cut into %q, want %q", line, got, want)
		}
	}
}

func TestColours(t *testing.T) {
	for text, want := range map[string]string{
		"1 0 0": "#ff0000", "0.0 .6 .5": "#009980", "255.0 102.0 255.0": "#ff66ff", "0,0.5,1": "#0080ff", "0 1 0 0.5": "#00ff00",
		"ff8000": "#ff8000", "#FF8000": "#ff8000", "": "", "red": "", "1 2": "", "1 0 nan": "", "-1 0 0": "", "300 0 0": "",
	} {
		if got := colourOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestRanksComeFromNames(t *testing.T) {
	for name, want := range map[string]int{
		"rank-12": 12, "rank0": 0, "Rank 3": 3, "MPI Rank 7": 7, "mpi_rank_2": 2, "P#5": 5, "3_program": 3, "rank-4 on node7": 4,
		"rank": -1, "node12": -1, "franks-3": -1, "P#5_T#1": -1, "program": -1, "": -1, "rank-99999999999": -1,
	} {
		if got := rankOf(name); got != want {
			t.Errorf("%q is rank %d, want %d", name, got, want)
		}
	}
}

func TestKindsOfLinks(t *testing.T) {
	for name, want := range map[string]trace.LinkKind{
		"MPI_LINK": trace.LinkMessage, "MPI communication": trace.LinkMessage, "link": trace.LinkMessage, "Work steal": trace.LinkSteal,
		"MIGRATE_LINK": trace.LinkSteal, "Worker task dependency": trace.LinkFlow, "Intra-node data Fetch": trace.LinkFlow, "0-HOST1-LINK4": trace.LinkFlow,
		"thread creation": trace.LinkSpawn, "spawn": trace.LinkSpawn,
	} {
		if got := linkKindOf(name); got != want {
			t.Errorf("%q carries a %v, want %v", name, got, want)
		}
	}
}

// Words are told apart whatever their length.
func TestSymbolsAreNumbersOfWords(t *testing.T) {
	all := newSymbols()
	c := &wordCache{all: all}
	seen := map[symbol]string{}
	for _, size := range []int{1, 2, 7, 8, 9, 16, 17, 40} {
		for i := range 3000 {
			w := fmt.Sprintf("%0*d", size, i)
			id := c.find([]byte(w))
			if old, ok := seen[id]; ok && old != w {
				t.Fatalf("%q and %q are both %d", old, w, id)
			}
			seen[id] = w
			if again := c.find([]byte(w)[:len(w):len(w)]); again != id {
				t.Fatalf("%q is %d, then %d", w, id, again)
			}
		}
	}
	if a, b := c.find([]byte("a")), c.find([]byte("a\x00")); a == b {
		t.Error("a zero byte is lost")
	}
}

// Past the bounds parsers number nothing new, but find what is defined.
func TestWordsThatAreDefinedHaveSymbolsPastTheBounds(t *testing.T) {
	for name, fill := range map[string]func(*symbols){
		"words": func(s *symbols) { s.met = maxMet },
		"bytes": func(s *symbols) { s.metBytes = maxMetBytes },
	} {
		all := newSymbols()
		c := &wordCache{all: all}
		early := c.find([]byte("early"))
		fill(all)
		for _, w := range []string{"late", "a late one that is long"} {
			if id := c.find([]byte(w)); id != bare {
				t.Errorf("%s: %q past the bound is %d", name, w, id)
			}
			if id := all.lookup([]byte(w)); id != noSymbol {
				t.Errorf("%s: %q is %d before it is defined", name, w, id)
			}
			id := all.keep([]byte(w))
			if id == bare || id == noSymbol || id == early || all.lookup([]byte(w)) != id || c.find([]byte(w)) != id || all.keep([]byte(w)) != id {
				t.Errorf("%s: %q is defined as %d and not found as that", name, w, id)
			}
		}
		if c.find([]byte("early")) != early || all.keep([]byte("early")) != early {
			t.Errorf("%s: a word that has a symbol lost it", name)
		}
	}
}

// Words of all lengths lie in blocks, those that are longer than one too.
func TestSymbolsKeepLongWordsAndMany(t *testing.T) {
	all := newSymbols()
	ids := map[string]symbol{}
	random := rand.New(rand.NewPCG(7, 8))
	for i := range 20_000 {
		w := strconv.Itoa(i)
		switch {
		case i%1000 == 0:
			w += strings.Repeat("x", random.IntN(3*textBlock))
		case i%10 == 0:
			w += strings.Repeat("y", random.IntN(300))
		}
		ids[w] = all.keep([]byte(w))
	}
	seen := map[symbol]bool{}
	for w, id := range ids {
		if id == noSymbol || id == bare || seen[id] {
			t.Fatalf("%.20q… of %d bytes has the symbol %d of another word", w, len(w), id)
		}
		seen[id] = true
		if got := all.lookup([]byte(w)); got != id {
			t.Fatalf("%.20q… of %d bytes is %d, then %d", w, len(w), id, got)
		}
	}
}

// The quick ways of reading times and words must agree with the plain ones.
func TestQuickReadingAgreesWithPlainReading(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const alphabet = "0123456789999....  \t\n-e\"#x\x01\xff"
	for range 200_000 {
		text := make([]byte, 1+random.IntN(24))
		for i := range text {
			text[i] = alphabet[random.IntN(len(alphabet))]
			if random.IntN(3) > 0 {
				text[i] = byte('0' + random.IntN(10))
			}
		}
		if random.IntN(2) == 0 { // more of those that look like times
			text = fmt.Appendf(text[:0], "%d.%0*d ", random.IntN(2000), 6+3*random.IntN(2), random.IntN(1_000_000))
		}
		padded := append(append(bytes.Clone(text), '\n'), "12345678"...) // what lies behind is anything
		if got, size := plainTime(padded, 0, seconds); size > 0 {
			want, rounded, ok := parseTime(padded[:size], seconds)
			if !ok || rounded || got != want || !endsWord[padded[size]] {
				t.Fatalf("%q: %d in %d bytes, want %d", text, got, size, want)
			}
		}
		size, x := shortWord(binary.LittleEndian.Uint64(padded))
		end := 0
		for !endsWord[padded[end]] {
			end++
		}
		if end > 7 {
			end = 0
		}
		var want uint64
		for i := range end {
			want |= uint64(padded[i]) << (8 * i)
		}
		if int(size) != 8*end || x != want {
			t.Fatalf("%q: a word of %d bits, %x; want %d bytes, %x", text, size, x, end, want)
		}
	}
}
