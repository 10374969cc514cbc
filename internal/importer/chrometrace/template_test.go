package chrometrace

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// told is all that a record says.
func told(r *record) string {
	out := fmt.Sprintf("%c %c %c %v %v %v %v", r.phase, r.bind, r.scope, r.threadClock, r.flowIn, r.flowOut, r.stack)
	for _, v := range []value{r.name, r.category, r.pid, r.tid, r.ts, r.dur, r.threadDur, r.id, r.idScope, r.localID, r.globalID, r.bindID, r.frame, r.weight, r.argsValue} {
		out += fmt.Sprintf(" %d%v%s", v.kind, v.escaped, v.raw())
	}
	out += fmt.Sprint(" ", r.at, r.timed, r.length, r.lasts, r.digits)
	if w := r.where; w != nil {
		out += fmt.Sprint(" ", w.pid, w.pidKind, w.tid, w.tidKind, " ", r.sort.text)
	}
	if r.what != nil {
		out += " " + r.what.text
	}
	for i := range r.args {
		a := &r.args[i]
		out += fmt.Sprintf(" %s%v=%d%s", a.key.raw(), a.key.escaped, a.value.kind, a.value.raw())
		if a.word != nil {
			out += fmt.Sprint(" ", a.form, a.bits, a.word.drop, a.word.text)
		}
	}
	return out
}

// What was learned from the records before changes nothing of what a record says, whole, damaged or cut.
func TestRecordTemplatesReadTheSameAsJSON(t *testing.T) {
	records := []string{
		a, b,
		`{"ph":"X","name":"n","ts":1.5,"dur":2,"pid":1,"tid":"2","args":{"x":1,"y":-1,"z":1.25,"External id":7}}`,
		`{ "ph" : "X" , "name" : "n" , "ts" : 1.5 , "dur" : 2.0005 , "args" : { "x" : 1 , "y" : 1e3 } , "cat" : "c" }`,
		`{"ph":"X","name":"n","ts":  1.5,"dur":"2","pid":1,"args":{  },"tid":2}`,
		`{"ph":"X","ts":1,"ts":"7.5","dur":3,"dur":-3,"args":7,"args":{"a":1},"args":{"b":null}}`,
		`{"ph":"X","ts":123456789012345678,"dur":1234567890123456789,"args":{"n":12345678901234567890,"m":0123,"k":00000000}}`,
		`{"ph":"X","ts":3800000106743.024,"dur":171.0549,"args":{"Ev Idx":3,"Ev\u0020Idx":4}}`,
		`{"ph":"s","id":1,"id2":{"local":"0x1"},"bp":"e","scope":"g","s":"t","bind_id":"0x3","flow_in":true,"flow_out":false,"sf":3,"weight":1,"tts":1,"tdur":2.5}`,
		`{"ph":"e","id2":{"global":1},"id2":3,"unknown":{"args":{"x":1}},"stack":["a"],"args":{"nested":{"x":[1,2]},"list":[1, 2, 3]},}`,
		`{"ph":"i","` + strings.Repeat("long", 30) + `":1,"args":{"` + strings.Repeat("key", 30) + `":2,"x":"a\"b"}}`,
		`{"ph":"X","cat":"c","name":"one","pid":1,"tid":2,"ts":3}`, `{"ph":"X","cat":"c","name":"two","pid":1,"tid":2,"ts":3}`,
		`{"ph":"X","cat":"c","name":"one","pid":1,"tid":2,"ts":3,"tid":"x","cat":"d"}`, `{"ph":"X","cat":"c","name":"one","pid":1,"tid":2,"ts":3,"name":"o\u006ee","pid":[2]}`,
		`{"ph":"s","id":4,"pid":1,"tid":2,"ts":3,"cat":"f","name":"f"}`, `{"ph":"f","id":4,"pid":10,"tid":2,"ts":3,"cat":"f","name":"f","bp":"e"}`, `{"ph":"f","id":4,"pid":1,"ts":3,"cat":"f","bp":"no"}`,
		`{}`, `{"args":{}}`, `{ }`,
	}
	for _, pattern := range []string{"made/*.json", "kineto/*.gz", "v8/*.gz"} {
		files, _ := filepath.Glob(filepath.Join("testdata", pattern))
		for _, f := range files {
			text := unpacked(t, f)
			scan := scanHead(text)
			for r := (record{}); scan.next(&r) && len(records) < 3000; {
				records = append(records, string(text[r.offset:scan.offset()]))
			}
		}
	}
	many := strings.Builder{}
	for i := range 3 * mostSeparators {
		fmt.Fprintf(&many, `"key %d":%d,`, i, i)
	}
	records = append(records, `{"ph":"X","args":{`+many.String()+`"last":1}}`)
	chance := rand.New(rand.NewPCG(7, 7))
	l := newLexicon(kineto)
	var learned, fresh record
	for range 6 * len(records) {
		text := []byte(records[chance.IntN(len(records))])
		switch chance.IntN(4) {
		case 0:
			text[chance.IntN(len(text))] = "{}[],\":\x00 x1.\\"[chance.IntN(13)]
		case 1:
			text = text[:1+chance.IntN(len(text))]
		}
		if text[0] != '{' {
			continue
		}
		text = append(text, strings.Repeat(" ", chance.IntN(2*longestSeparator))...)
		learned.reset()
		fresh.reset()
		end, status := l.template.parseRecord(text, 0, &learned)
		wantEnd, want := (&recordTemplate{cached: mostSeparators}).parseRecord(text, 0, &fresh)
		if end != wantEnd || status != want {
			t.Fatalf("ends at %d with %d, want %d with %d: %.3000s", end, status, wantEnd, want, text)
		}
		if status != complete {
			continue
		}
		l.prepare(&learned)
		newLexicon(kineto).prepare(&fresh)
		for i := range fresh.args {
			if fresh.args[i].word == nil { // nobody asks for it
				learned.args[i].word = nil
			}
		}
		if got, want := told(&learned), told(&fresh); got != want {
			t.Fatalf("%.3000s\nof  %.3000s\nwant %.3000s", got, text, want)
		}
	}
	if l.template.cached < 50 {
		t.Errorf("only %d separators were learned", l.template.cached)
	}
	long := 0
	for _, g := range l.template.begin.separators {
		if g.hasValues {
			long++
		}
	}
	if long < 4 {
		t.Errorf("only %d of them begin a record and go over its first values", long)
	}
}

// A file that has one process after the other is learned anew with each, and what all have in common is not forgotten for it.
func TestRecordTemplatesAdaptToEachProcess(t *testing.T) {
	h := newLexicon(chrome).template
	var r record
	for pid := range 300 {
		for range 100 {
			text := fmt.Sprintf(`{"ph":"B","cat":"c","name":"n%d","pid":%d,"tid":0,"ts":1.5}%*s`, pid%7, pid, longestSeparator+1, "")
			r.reset()
			if _, status := h.parseRecord([]byte(text), 0, &r); status != complete {
				t.Fatalf("%s: %d", text, status)
			}
		}
	}
	separators := h.fields["name"].separators
	if first := separators[0].text; first != `,"pid":299,"tid":0,"ts":` {
		t.Errorf("the first to be tried is %s", first)
	}
	if !slices.ContainsFunc(separators, func(g *separator) bool { return g.text == `,"pid":` }) {
		t.Error("what stands before any pid is forgotten")
	}
	if h.cached > 8*mostPerKey {
		t.Errorf("%d separators are kept", h.cached)
	}
}

// Plain numbers are read as all others are.
func TestFastDecimalsEqualTheGeneralParser(t *testing.T) {
	for _, s := range []string{"0", "1", "12.", "12345678", "123456789", "1234567.8", "12345678.9", "99999999.999", "3800000106743.024", "1.0005", "1.00049", "123456789012345.678", "1234567890123456.78", "000000001.5", "999999999999999999", "0.00000000000000001"} {
		d, ok := parseDigits([]byte(s+","), 0)
		if !ok || d.end != len(s) {
			t.Errorf("%s: %+v", s, d)
			continue
		}
		n, fits := d.micros()
		if want, wantFits := decimal([]byte(s), 3); n != want || fits != wantFits {
			t.Errorf("%s: %d %v, want %d %v", s, n, fits, want, wantFits)
		}
		if whole, after := digitsOf([]byte(s)); int(whole) != d.whole || int(after) != d.after {
			t.Errorf("%s: %d and %d digits, want %d and %d", s, d.whole, d.after, whole, after)
		}
	}
	for _, s := range []string{"", "-1", "+1", ".5", "1e3", "1.5E2", "1234567890123456789", "1.2.3", "12a", "1"} {
		end := ","
		if s == "1" {
			end = "" // cut
		}
		if d, ok := parseDigits([]byte(s+end), 0); ok {
			t.Errorf("%s: %+v", s, d)
		}
	}
}
