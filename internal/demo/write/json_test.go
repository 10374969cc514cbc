package write

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestTimesAreExactMicroseconds(t *testing.T) {
	for in, want := range map[trace.Time]string{
		0: "0.000", 7: "0.007", 1_234: "1.234", 60_000: "60.000", 9_007_199_254_740_993: "9007199254740.993", -1_500: "-1.500",
	} {
		if got := string(appendTime(nil, in)); got != want {
			t.Errorf("%d ns is %s, want %s", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", `quote " and \ slash`, "line\nend\ttab\x00", "°C µs 例", "bad \xff byte"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendText(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if utf8.ValidString(s) && got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
	})
}

func TestValuesAreJSON(t *testing.T) {
	for want, v := range map[string]trace.Value{
		"-3": trace.Integer(-3), "0.25": trace.Number(0.25), "100000000000000000000": trace.Number(1e20), `"a \"b\""`: trace.Text(`a "b"`),
	} {
		if got := string(appendValue(nil, v)); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%v is written as %s, want %s", v, got, want)
		}
	}
}

func TestFindNamesTheFormatsThereAre(t *testing.T) {
	var names []string
	for _, f := range Formats {
		if got, err := Find(f.Name); got != f || err != nil {
			t.Errorf("Find(%q) gives %v, %v", f.Name, got, err)
		}
		names = append(names, f.Name)
	}
	want := `unknown format "otf9"; there are ` + strings.Join(names, ", ")
	if _, err := Find("otf9"); err == nil || err.Error() != want {
		t.Errorf("an unknown format gives %v, want %s", err, want)
	}
}
