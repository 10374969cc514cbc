package paje

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const smallHeader = `%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 2
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 4
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 6
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajePushState 12
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 13
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeStartLink 15
% Time date
% Type string
% Container string
% Value string
% StartContainer string
% Key string
%EndEventDef
0 P 0 PROCESS
2 S P STATE
4 L 0 P P LINK
6 0 p0 P 0 p0
6 0 p1 P 0 p1
`

// count imports a text into a writer that counts.
func count(t testing.TB, text string) *importertest.Count {
	t.Helper()
	s, err := importer.NewSourceFS("test", fstest.MapFS{"x": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	w := importertest.NewCount()
	for _, run := range importer.ClaimAs(Format, s) {
		if err := run.Import(context.Background(), w); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func TestDefinitionsMayChangeAnywhere(t *testing.T) {
	var b strings.Builder
	b.WriteString(smallHeader)
	const n = 60_000 // several blocks
	for i := range n {
		switch i % 20_000 {
		case 5_000:
			b.WriteString("   %EventDef PajePushState 12\n% Value string\n% Time date\n% Type string\n% Container string\n%EndEventDef\n")
		case 15_000:
			b.WriteString("%EventDef PajePushState 12\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n")
		}
		if k := i % 20_000; k >= 5_000 && k < 15_000 {
			fmt.Fprintf(&b, "12 100%% 0.%06d S p%d\n", i, i%2)
		} else {
			fmt.Fprintf(&b, "12 0.%06d S p%d 100%%\n", i, i%2)
		}
		fmt.Fprintf(&b, "13 0.%06d S p%d\n", i, i%2)
	}
	w := count(t, b.String())
	if w.Enters != n || w.Leaves != n || len(w.Regions) != 1 || w.Regions[0].Name != "100%" {
		t.Errorf("%d enters, %d leaves, regions %v", w.Enters, w.Leaves, w.Regions)
	}
	if w.Reported["guessed "+reasons[redefined].What] != 6 || len(w.Reported) != 1 {
		t.Errorf("reported: %v", w.Reported)
	}
}

func TestLinesOfAnyLengthAreReadOrCounted(t *testing.T) {
	long, tooLong := strings.Repeat("v", 700<<10), strings.Repeat("w", 3<<20)
	text := smallHeader + "12 0.1 S p0 a\n12 0.2 S p0 " + long + "\n12 0.3 S p0 " + tooLong + "\n13 0.4 S p0\n12 0.5 S p0 b # " + tooLong
	w := count(t, text)
	if w.Enters != 2 || len(w.Regions) != 2 || len(w.Regions[1].Name) != len(long) {
		t.Errorf("%d enters, %d regions", w.Enters, len(w.Regions))
	}
	if w.Reported["skipped "+reasons[longLine].What] != 2 {
		t.Errorf("reported: %v", w.Reported)
	}
}

func TestValuesWithoutEndBecomeOneRegion(t *testing.T) {
	var b strings.Builder
	b.WriteString(smallHeader)
	for i := range maxUndeclared + 1000 {
		fmt.Fprintf(&b, "12 0.%06d S p0 value-%d\n13 0.%06d S p0\n", i, i, i)
	}
	w := count(t, b.String())
	if len(w.Regions) != maxUndeclared+1 || w.Attributes != 1000 || w.Enters != maxUndeclared+1000 {
		t.Errorf("%d regions, %d attributes, %d enters", len(w.Regions), w.Attributes, w.Enters)
	}
	if w.Reported["repaired "+reasons[manyValues].What] != 1000 {
		t.Errorf("reported: %v", w.Reported)
	}
}

// A file of nothing but link starts must not fill memory. Which ones are left out does not depend on the cores.
func TestLinksThatWaitAreBounded(t *testing.T) {
	if maxPending > 1<<20 {
		t.Errorf("%d ends of links may wait", maxPending)
	}
	const most, links = 100, 3000
	var b strings.Builder
	b.WriteString(smallHeader + endLink)
	for i := range links {
		fmt.Fprintf(&b, "15 0.%06d L p0 L p0 key-%d\n", i, i)
		if i%10 == 9 { // a place comes free
			fmt.Fprintf(&b, "16 0.%06d L p0 L p1 key-%d\n", i, i/20)
		}
	}
	want := ""
	for _, workers := range []int{1, 2, 3, 8} {
		w := importertest.NewCount()
		err := importWith(t.Context(), runOf(t, b.String()), w, workers, func(c *converter) { c.mostWaiting, c.blockSize = most, 4096 })
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(w.Links[trace.LinkMessage], w.Reported)
		if want == "" {
			want = got
		}
		if joined, far := w.Links[trace.LinkMessage], w.Reported["skipped "+reasons[farLinks].What]; got != want || joined == 0 || far != links+links/10-2*joined-most {
			t.Errorf("%d workers: %d links joined, %d ends left out: %s, with one %s", workers, joined, far, got, want)
		}
	}
}

const endLink = "%EventDef PajeEndLink 16\n% Time date\n% Type string\n% Container string\n% Value string\n% EndContainer string\n% Key string\n%EndEventDef\n"

// The two ways through a file of definitions and events give the same: whole, and
// byte by byte.
func TestBlocksDoNotDependOnHowTheFileIsRead(t *testing.T) {
	text := smallHeader + "12 0.1 S p0 a\n\n# c\n13 0.2 S p0"
	var got []string
	for _, r := range []io.Reader{strings.NewReader(text), iotestReader{strings.NewReader(text)}} {
		var all strings.Builder
		f := &feeder{header: header{now: &layouts{}}, size: blockSize}
		f.ready = func(b *block) error { fmt.Fprintf(&all, "%d definitions\n", b.lines); return nil }
		f.send = func(b *block) error { all.Write(b.data); return nil }
		if err := f.run(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		got = append(got, all.String())
	}
	if got[0] != got[1] || !strings.HasSuffix(got[0], "13 0.2 S p0\n") {
		t.Errorf("%q\n%q", got[0], got[1])
	}
}

type iotestReader struct{ r io.Reader }

func (r iotestReader) Read(p []byte) (int, error) { return r.r.Read(p[:min(len(p), 1)]) }
