package chrometrace

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// transcript is all that a scanner tells of a file. With a batch it reads on several workers.
func transcript(data []byte, batch int) string {
	var out strings.Builder
	s := newScanner(bytes.NewReader(data))
	workers := 1
	if batch > 0 {
		s.batch, s.batchesAt = batch, 0
		workers += min(batch, 3)
	}
	s.each(workers, newLexicon(kineto), func(r *record) {
		fmt.Fprintf(&out, "%d %c %s %s %d %d %d\n", r.offset, r.phase, r.name.raw(), r.pid.raw(), r.at, r.length, len(r.args))
		for i := range r.args {
			a := &r.args[i]
			fmt.Fprintf(&out, "  %s=%s", a.key.raw(), a.value.raw())
			if a.word != nil {
				fmt.Fprintf(&out, " %d %d", a.form, a.bits)
			}
		}
	})
	fmt.Fprintf(&out, "damage %+v, sections %d, end %d, %v", s.damage, len(s.sections), s.offset(), s.readFailure())
	return out.String()
}

// Where batches end is guessed. No guess, right or wrong, changes what is read.
func TestBatchesGiveWhatTheScannerGives(t *testing.T) {
	var texts [][]byte
	again := func(record, between string) string {
		return strings.TrimSuffix(strings.Repeat(record+between, 40), between)
	}
	for _, in := range []string{
		`[` + again(a, ",") + `]`, `[` + again(a+",\n"+b, " , ") + "\n]\n", again(a, "\n"), "[\n" + again(b, "\n"), `{"traceEvents":[` + again(a, ",") + `],"k":[1,2]}`,
		`{"traceEvents":[` + again(a, ",") + `],"traceEvents":[` + again(b, ",") + `]} more`,
		// Objects within, which begin as records do; a text that looks like an edge; other keys first.
		`[` + again(`{"ph":"X","args":{"l":[{"ph":"X","name":"no"},{"ph":"X","name":"nor this"},{"ph":"X"}]},"ts":1}`, ",") + `]`,
		`[` + again(`{"ph":"X","name":"},{\"ph\":\"X\"},{","ts":1}`, ",") + `]`,
		`[` + again(`{"name":"x","ph":"M"}`, ",") + `,` + again(a, ",") + `,` + again(`{ "ts":1,"ph":"i"}`, ",") + `]`,
		`[` + again(a, ",") + `,{"ph":"X" "name"},` + again(b, ",") + `,{"ph":"X","name":"x"y"},` + again(b, "") + `,,` + again(a, ",") + "\x00\x00" + again(b, ",") + `,{"ph":"X","na`,
		`[` + again(b, ",") + `,{"ph":"X","args":{"long":"` + strings.Repeat("x", 5000) + `"}},` + again(b, ",") + `]`,
	} {
		texts = append(texts, []byte(in))
	}
	for _, pattern := range []string{"made/*.json", "speedscope/*.json", "catapult/*.json", "kineto/*.gz", "v8/*.gz"} {
		files, _ := filepath.Glob(filepath.Join("testdata", pattern))
		for _, f := range files {
			if text := unpacked(t, f); len(text) < 300<<10 {
				texts = append(texts, text)
			}
		}
	}
	chance := rand.New(rand.NewPCG(7, 7))
	damaged := func(text []byte) []byte {
		out := bytes.Clone(text)
		for range 3 {
			at := chance.IntN(len(out))
			switch chance.IntN(3) {
			case 0:
				out[at] = "{}[],\":\x00 x"[chance.IntN(10)]
			case 1:
				out = append(out[:at], out[min(at+chance.IntN(50), len(out)):]...)
			default:
				out = out[:max(at, len(out)/2)]
			}
		}
		return out
	}
	for n, text := range texts {
		for k := range 6 {
			if k > 0 {
				text = damaged(texts[n])
			}
			want := transcript(text, 0)
			for _, batch := range []int{1, 50, 700, 20000} {
				if batch < len(text)/2000 {
					continue
				}
				if got := transcript(text, batch); got != want {
					t.Fatalf("batches of %d bytes:\n%s\nwant\n%s\nof %.2000s", batch, got, want, text)
				}
			}
		}
	}
}

func TestBatchesGiveTheSameStore(t *testing.T) {
	paths := []string{"testdata/made/phases.json", "testdata/made/ranks-in-one.json", "testdata/made/lines.json", "testdata/catapult/nestable_async.json", "testdata/kineto/backward_thread.json", "testdata/v8/chromium.json.gz"}
	if _, err := os.Stat("../../../../shared/data"); err == nil {
		paths = append(paths, importertest.Shared(t, "public/kineto/resnet50-dataloader"))
	}
	for _, path := range paths {
		batches := []int{0, 400, 30000}
		f := *Format
		f.Import = func(ctx context.Context, run importer.Run, w trace.Writer) error {
			batch := batches[0]
			batches = batches[1:]
			return importWith(ctx, run, w, 1+min(batch, 3), batch)
		}
		s, err := importer.NewSource(path)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := importer.Detect([]*importer.Format{&f}, s)
		if err != nil {
			t.Fatal(err)
		}
		importertest.SameBytes(t, runs[0], len(batches))
		s.Close()
	}
}
