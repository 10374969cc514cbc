package paje

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// sameOnAnyCores imports a text as one block, which is converted in the order of the file, and then in small blocks
// on some numbers of cores, and wants the same store to the last byte.
func sameOnAnyCores(t *testing.T, text []byte) {
	t.Helper()
	s, err := importer.NewSourceFS("x", fstest.MapFS{"x.trace": {Data: text}})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ workers, size int }{{1, len(text) + 1}, {1, 700}, {2, 3000}, {3, 1500}, {8, 700}}
	next := 0
	format := *Format
	format.Import = func(ctx context.Context, run importer.Run, w trace.Writer) error {
		at := cases[next]
		next++
		return importWith(ctx, run, w, at.workers, func(c *converter) { c.blockSize, c.mostWaiting = at.size, 50 })
	}
	runs, err := importer.Detect([]*importer.Format{&format}, s)
	if err != nil {
		t.Fatal(err)
	}
	importertest.SameBytes(t, runs[0], len(cases))
}

func TestARandomTraceIsTheSameOnAnyNumberOfCores(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 0))
		for _, oddities := range []float64{0, 0.005, 0.2} {
			sameOnAnyCores(t, []byte(randomTrace(random, 3000, oddities)))
		}
	}
}

func TestSamplesAreTheSameOnAnyNumberOfCores(t *testing.T) {
	for _, name := range []string{
		"paje-is128-g5k/is128.trace.gz", "paje-pingpong4/pingpong4.trace", "public/paje/simgrid-cluster/simu-mardi.trace",
		"public/paje/starpu-native-sample/native_sample.trace",
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(importertest.Shared(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, ".gz") {
				r, err := gzip.NewReader(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if text, err = io.ReadAll(r); err != nil {
					t.Fatal(err)
				}
			}
			sameOnAnyCores(t, text)
			if testing.Short() {
				t.Skip("damaged ones take seconds")
			}
			random := rand.New(rand.NewPCG(1, 2))
			body := bytes.LastIndexByte(text[:min(len(text), 1<<13)], '%')
			for range 4 {
				damaged := bytes.Clone(text)
				for range 40 {
					damaged[body+random.IntN(len(text)-body)] = "\n %\"019 abSM\x00"[random.IntN(13)]
				}
				sameOnAnyCores(t, damaged)
			}
		})
	}
}

// A block that defines events stays as it is where a word has another meaning by then.
func TestARedefinedEventStaysAsDefinedAndIsCounted(t *testing.T) {
	w := count(t, smallHeader+"12 1 S p0 a\n2 S P OTHER\n%EventDef PajePopState 13\n% Time date\n% Container string\n% Type string\n%EndEventDef\n13 2 p0 S\n12 3 S p0 a\n")
	if n := w.Reported["guessed "+reasons[redefined].What]; n != 1 || w.Enters != 2 {
		t.Errorf("%d definitions counted, %d states; want 1 and 2: %v", n, w.Enters, w.Reported)
	}
}

// allEvents are definitions of what smallHeader lacks.
const allEvents = moreEvents + endLink + `%EventDef PajeDefineVariableType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEventType 3
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 5
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeAddVariable 8
% Time date
% Type string
% Container string
% Value double
%EndEventDef
%EventDef PajeNewEvent 9
% Time date
% Type string
% Container string
% Value string
% Note string
%EndEventDef
%EventDef Mine 17
% What string
%EndEventDef
0 Q 0 MPI
1 V P VARIABLE
2 S1 P OTHER
3 E P EVENT
`

// randomTrace has records of all sorts, and so many that change or lack a meaning: those define or use a word for the
// first time, give one another meaning, end containers, or are wrong.
func randomTrace(random *rand.Rand, lines int, oddities float64) string {
	var b strings.Builder
	b.WriteString(smallHeader + allEvents)
	containers, values := 2, 5
	for i := range lines {
		k, v, state := random.IntN(containers), random.IntN(values), []string{"S", "S", "S1"}[random.IntN(3)]
		at := fmt.Sprintf("%d.%06d", i/100, random.IntN(1e6)/50+i%100*1e4)
		switch random.IntN(10) {
		case 0, 1, 2:
			fmt.Fprintf(&b, "12 %s %s p%d v%d\n", at, state, k, v)
		case 3, 4:
			fmt.Fprintf(&b, "13 %s %s p%d\n", at, state, k)
		case 5:
			fmt.Fprintf(&b, "10 %s %s p%d v%d\n", at, state, k, v)
		case 6:
			fmt.Fprintf(&b, "9 %s E p%d %d %s\n", at, k, v, []string{`""`, "text", "12", "more"}[random.IntN(4)])
		case 7:
			fmt.Fprintf(&b, "8 %s V p%d 0.5\n", at, k)
		case 8:
			fmt.Fprintf(&b, "15 %s L p%d L p%d %s\n", at, 0, k, []string{"key", "a-key-of-many-letters"}[random.IntN(2)]+fmt.Sprint(random.IntN(200)))
		case 9:
			fmt.Fprintf(&b, "16 %s L p%d L p%d %s\n", at, 0, k, []string{"key", "a-key-of-many-letters"}[random.IntN(2)]+fmt.Sprint(random.IntN(200)))
		}
		if random.Float64() >= oddities {
			continue
		}
		switch random.IntN(13) {
		case 0:
			fmt.Fprintf(&b, "6 %s p%d P p%d name-%d\n", at, containers, random.IntN(containers), containers)
			containers++
		case 1:
			fmt.Fprintf(&b, "7 %s P p%d\n", at, k)
		case 2:
			fmt.Fprintf(&b, "6 %s p%d %s p%d again-%d\n", at, k, []string{"P", "Q"}[random.IntN(2)], random.IntN(2), k)
		case 3:
			fmt.Fprintf(&b, "2 S1 P STATE-%d\n", random.IntN(3))
		case 4:
			fmt.Fprintf(&b, "5 v%d S value-%d\n", v, i)
		case 5:
			values++
		case 6:
			fmt.Fprintf(&b, "12 %s OTHER name-%d v%d\n", at, containers-1, v)
		case 7:
			fmt.Fprintf(&b, "12 %s S nobody v%d\n", at, v)
		case 8:
			b.WriteString("%EventDef PajePopState 13\n% Type string\n% Time date\n% Container string\n%EndEventDef\n13 S 1 p0\n" +
				"%EventDef PajePopState 13\n% Time date\n% Type string\n% Container string\n%EndEventDef\n")
		case 9:
			fmt.Fprintf(&b, "6 never q%d P 0 q%d\n12 %s S q%d v\n", i, i, at, i)
		case 10:
			b.WriteString("17 mine\n")
		case 11:
			fmt.Fprintf(&b, "12 %s E p%d v\n12 x S p%d v\n12 %s \"S p%d v\n", at, k, k, at, k)
		case 12:
			fmt.Fprintf(&b, "12 %s S 0 top\n", at)
		}
	}
	return b.String()
}
