package tau

import (
	"bytes"
	"html"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A pair is one fact of metadata.
type pair struct{ key, value string }

// parsePairs reads <attribute><name>…</name><value>…</value></attribute>…, the way
// TAU writes it; the standard library's reader of XML would take most of the time
// of an import. A value that is itself made of elements becomes their text.
func parsePairs(b []byte) (pairs []pair) {
	for {
		_, rest, ok := bytes.Cut(b, []byte("<attribute>"))
		if !ok {
			return pairs
		}
		one, after, ok := bytes.Cut(rest, []byte("</attribute>"))
		if !ok {
			return pairs
		}
		b = after
		if _, rest, ok = bytes.Cut(one, []byte("<name>")); !ok {
			continue
		}
		name, rest, ok := bytes.Cut(rest, []byte("</name>"))
		if !ok {
			continue
		}
		value := ""
		if _, v, ok := bytes.Cut(rest, []byte("<value>")); ok {
			if end := bytes.LastIndex(v, []byte("</value>")); end >= 0 {
				v = v[:end]
			}
			value = plain(v)
		}
		if key := plain(name); key != "" {
			pairs = append(pairs, pair{key, value})
		}
	}
}

// plain returns the text of some XML without its tags.
func plain(b []byte) string {
	if bytes.IndexByte(b, '<') >= 0 {
		var words []string
		for len(b) > 0 {
			text, rest, _ := bytes.Cut(b, []byte("<"))
			if t := strings.TrimSpace(string(text)); t != "" {
				words = append(words, t)
			}
			_, b, _ = bytes.Cut(rest, []byte(">"))
		}
		b = []byte(strings.Join(words, " "))
	}
	s := strings.ToValidUTF8(string(b), "\ufffd")
	if strings.IndexByte(s, '&') >= 0 {
		s = html.UnescapeString(s)
	}
	return s
}

// metadata sorts out which facts are the same for all threads. It keeps one bit a
// thread and key, whatever the values.
type metadata struct {
	threads []trace.LocationID
	order   []string
	keys    map[string]*metaKey
}

type metaKey struct {
	first  string   // the value met first
	same   []uint64 // a bit for each thread that has it
	count  int
	varied bool
}

// add takes the facts of one thread; those that differ from the first are written.
func (m *metadata) add(w trace.Writer, at trace.LocationID, pairs []pair) {
	i := len(m.threads)
	m.threads = append(m.threads, at)
	var differ []trace.Attribute
	for n, p := range pairs {
		if slices.ContainsFunc(pairs[:n], func(o pair) bool { return o.key == p.key }) {
			continue
		}
		k, ok := m.keys[p.key]
		if !ok {
			k = &metaKey{first: p.value}
			m.keys[p.key] = k
			m.order = append(m.order, p.key)
		}
		k.count++
		if p.value != k.first {
			k.varied = true
			differ = append(differ, trace.Attribute{Key: p.key, Value: trace.Text(p.value)})
			continue
		}
		for len(k.same) <= i/64 {
			k.same = append(k.same, 0)
		}
		k.same[i/64] |= 1 << (i % 64)
	}
	if len(differ) > 0 {
		w.Describe(at, trace.Location{Rank: trace.NoRank, Attributes: differ})
	}
}

// finish writes values that all threads share as properties, and the rest to the threads that have them.
func (m *metadata) finish(w trace.Writer) {
	var varied []string
	for _, key := range m.order {
		k := m.keys[key]
		if !k.varied && k.count == len(m.threads) {
			w.Property(key, k.first)
		} else {
			varied = append(varied, key)
		}
	}
	for i, at := range m.threads {
		var list []trace.Attribute
		for _, key := range varied {
			if k := m.keys[key]; i/64 < len(k.same) && k.same[i/64]&(1<<(i%64)) != 0 {
				list = append(list, trace.Attribute{Key: key, Value: trace.Text(k.first)})
			}
		}
		if len(list) > 0 {
			w.Describe(at, trace.Location{Rank: trace.NoRank, Attributes: list})
		}
	}
}
