package chrometrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// scan gives the names of all records, and the scanner in its last state.
func scan(r io.Reader) ([]string, *scanner) {
	s := newScanner(r)
	var rec record
	var names []string
	for s.next(&rec) {
		names = append(names, string(rec.name.plain(nil)))
	}
	return names, s
}

const a, b = `{"ph":"X","name":"a","ts":1,"args":{"x":[1,{"y":"]"}]}}`, `{"ph":"X","name":"b","ts":2}`

func TestScannerTakesEveryForm(t *testing.T) {
	for _, c := range []struct {
		name, in string
		damage   damage // cut, unclosed, commas, trailing and broken only
	}{
		{"array", `[` + a + `,` + b + `]`, damage{}},
		{"array with space", " \n[ " + a + " ,\r\n\t" + b + " ] \n", damage{}},
		{"byte order mark", "\xEF\xBB\xBF[" + a + `,` + b + `]`, damage{}},
		{"trailing comma", `[` + a + `,` + b + `,]`, damage{}},
		{"no closing bracket", `[` + a + `,` + b, damage{unclosed: true}},
		{"no closing bracket, comma", `[` + a + `,` + b + ",\n", damage{unclosed: true}},
		{"zeros at the end", `[` + a + `,` + b + ",\n\x00\x00\x00\x00", damage{unclosed: true}},
		{"object", `{"traceEvents":[` + a + `,` + b + `]}`, damage{}},
		{"object, members before and after", `{"k":{"traceEvents":1},"l":"]}","traceEvents":[` + a + `,` + b + `],"m":[1,2]}`, damage{}},
		{"object, records twice", `{"traceEvents":[` + a + `],"traceEvents":[` + b + `]}`, damage{}},
		{"object not closed", `{"traceEvents":[` + a + `,` + b + `]`, damage{unclosed: true}},
		{"one a line without commas", "[\n" + a + "\n" + b + "\n]", damage{commas: 1}},
		{"one a line without bracket", a + "\n" + b + "\n", damage{}},
		{"cut inside a record", `[` + a + `,` + b + `,{"ph":"X","na`, damage{cut: true}},
		{"cut inside a member", `{"traceEvents":[` + a + `,` + b + `],"k":[1,`, damage{cut: true}},
		{"a record that is none", `[` + a + `,{"ph":"X" "name"},` + b + `]`, damage{broken: 1}},
		{"values that are no records", `[` + a + `,null,17,` + b + `]`, damage{broken: 1}},
		{"a quote too many", `[` + a + `,{"ph":"X","name":"x"y"},` + b + `]`, damage{broken: 1}},
		{"bytes after the end", `[` + a + `,` + b + `] more`, damage{trailing: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				names, s := scan(r)
				if got := strings.Join(names, " "); got != "a b" {
					t.Errorf("records %q", got)
				}
				d := s.damage
				d.brokenAt, d.brokenBytes = 0, 0
				if d != c.damage {
					t.Errorf("damage %+v, want %+v", d, c.damage)
				}
			}
		})
	}
}

func TestScannerKeepsMembers(t *testing.T) {
	_, s := scan(strings.NewReader(`{"n": 12 ,"t":"a\"b","l":[{},{"x":[1,2]},3],"e":[],"o":{"a":1,"b":2},"traceEvents":[` + a + `],"z":null}`))
	for _, c := range []struct {
		key, text string
		items     int
	}{{"n", "12", 0}, {"t", `"a\"b"`, 0}, {"l", `[{},{"x":[1,2]},3]`, 3}, {"e", "[]", 0}, {"o", `{"a":1,"b":2}`, 2}, {"z", "null", 0}} {
		if got := string(s.section(c.key)); got != c.text {
			t.Errorf("%s is %q, want %q", c.key, got, c.text)
		}
		for _, sec := range s.sections {
			if sec.key == c.key && sec.items != c.items {
				t.Errorf("%s has %d items, want %d", c.key, sec.items, c.items)
			}
		}
	}
}

func TestScannerPassesOverWhatIsTooLong(t *testing.T) {
	long := func(n int) io.Reader { return io.LimitReader(repeat("x"), int64(n)) }
	record := io.MultiReader(strings.NewReader(`[`+a+`,{"ph":"X","name":"`), long(longestRecord+1<<20), strings.NewReader(`"},`+b+`]`))
	names, s := scan(record)
	if strings.Join(names, " ") != "a b" || s.damage.oversized != 1 {
		t.Errorf("records %q, damage %+v", names, s.damage)
	}
	member := io.MultiReader(strings.NewReader(`{"k":"`), long(8<<20), strings.NewReader(`","traceEvents":[`+a+`,`+b+`]}`))
	names, s = scan(member)
	if strings.Join(names, " ") != "a b" || len(s.section("k")) != longestSection || cap(s.buf) > longestFirst {
		t.Errorf("records %q, kept %d bytes, buffer of %d", names, len(s.section("k")), cap(s.buf))
	}
}

// repeat is an endless reader.
type repeat string

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r[i%len(r)]
	}
	return len(p), nil
}

// Inputs on which trying every place would take forever: the budget ends it.
func TestScannerEndsOnHostileInput(t *testing.T) {
	for _, unit := range []string{`{"a":`, `{`, `[`, `{"a":[`, `{"ph":"X","args":{"`, `"`, `\`, `{"ph":"X",`, `{"ph":"X","a":[{`} {
		for _, start := range []string{`[`, `{"traceEvents":[`, `[` + a + `,`, ``} {
			names, s := scan(io.MultiReader(strings.NewReader(start), io.LimitReader(repeat(unit), 4<<20)))
			if len(names) > 1 || cap(s.buf) > 16<<20 {
				t.Errorf("%q after %q: %d records, buffer of %d", unit, start, len(names), cap(s.buf))
			}
		}
	}
}

func TestScannerStopsAtAReadError(t *testing.T) {
	broken := errors.New("no more")
	names, s := scan(io.MultiReader(strings.NewReader(`[`+a+`,`+b+`,{"ph"`), iotest.ErrReader(broken)))
	if strings.Join(names, " ") != "a b" || s.readFailure() != broken || !s.damage.cut {
		t.Errorf("records %q, failure %v, damage %+v", names, s.readFailure(), s.damage)
	}
}

func TestScannerDoesNotAllocatePerRecord(t *testing.T) {
	many := []byte("[" + strings.Repeat(a+",", 10000) + a + "]")
	if n := testing.AllocsPerRun(3, func() { scanAll(many) }); n > 200 {
		t.Errorf("%v allocations for 10,001 records", n)
	}
}

func TestTimesKeepEveryDigit(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1": 1000, "-1891000": -1891000000, "1794703558225707.2": 1794703558225707200, "1794703558225707.203": 1794703558225707203,
		"0.001": 1, "0.0005": 1, "0.0004": 0, "-0.0005": -1, "1e3": 1000000, "1.5E-3": 2, "1.7947035582257072e15": 1794703558225707200,
		"3843947263059.471": 3843947263059471, "00012.5": 12500, "+2": 2000, "0.00000000000000000000000001": 0, "5.": 5000, ".5": 500,
	} {
		if got, ok := rawValue([]byte(in), number).nanoseconds(); !ok || got != want {
			t.Errorf("%s µs is %d ns, %v, want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "-", ".", "abc", "1.2.3", "1e", "1e99", "99999999999999999999", "NaN", "0x10", "1 2"} {
		if got, ok := rawValue([]byte(in), number).nanoseconds(); ok {
			t.Errorf("%q is taken for %d ns", in, got)
		}
	}
}

func TestEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`plain`: "plain", `a\"b\\c\/d`: `a"b\c/d`, `\n\t\r\b\f`: "\n\t\r\b\f", `\u00e9`: "é", `\ud83d\ude00`: "😀",
		`\ud83d`: "\ufffd", `\ud83dx`: "\ufffdx", `\ud83d\u0041`: "\ufffdA", `\u12`: `\u12`, `\q`: `\q`, `end\`: `end\`, `\uzzzz`: `\uzzzz`,
	} {
		if got := string(unescape(nil, []byte(in))); got != want {
			t.Errorf("%s becomes %q, want %q", in, got, want)
		}
	}
}

// Texts of every length and quote position, so that each byte of an eight-byte
// step is the first that matters once.
func TestTextsOfAllLengths(t *testing.T) {
	for n := range 40 {
		for at := -1; at < n; at++ {
			body := bytes.Repeat([]byte("x"), n)
			if at >= 0 && at+1 < n {
				body[at], body[at+1] = '\\', '"'
			}
			in := []byte(fmt.Sprintf(`"%s",`, body))
			v, end, s := parseValue(in, 0)
			if s != complete || string(v.raw()) != string(body) || end != n+2 || v.escaped != bytes.Contains(body, []byte(`\`)) {
				t.Fatalf("%s gives %q, end %d, status %d", in, v.raw(), end, s)
			}
			for cut := range n + 1 {
				if _, _, s := parseValue(in[:cut], 0); s != short {
					t.Fatalf("%s is %d, want short", in[:cut], s)
				}
			}
		}
	}
}
