package jsonstream

import "encoding/binary"

// mostTexts and longestText bound the strings that are kept to be used again.
const (
	mostTexts   = 1 << 12
	longestText = 64
)

// Texts are strings that came before, so that those that come often are one string.
type Texts struct {
	known  map[string]string
	recent []string // by a cheap hash; a string that is not here may be known
}

// recentBits says how many strings are recent.
const recentBits = 10

// Intern is bytes as a string.
func (t *Texts) Intern(b []byte) string {
	if len(b) > longestText || len(b) == 0 {
		return string(b)
	}
	if t.recent == nil {
		t.recent = make([]string, 1<<recentBits)
	}
	r := &t.recent[place(b)]
	if *r == string(b) {
		return *r
	}
	s, ok := t.known[string(b)]
	if !ok {
		s = string(b)
		if t.known == nil || len(t.known) >= mostTexts {
			t.known = make(map[string]string, 256)
		}
		t.known[s] = s
	}
	*r = s
	return s
}

// place is where a text is among the recent ones: by its length, its beginning and its end.
func place(b []byte) uint64 {
	n := uint64(len(b))
	var first, last uint64
	if n >= 8 {
		first, last = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	} else {
		for _, ch := range b {
			first = first<<8 | uint64(ch)
		}
	}
	h := (first ^ n) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32 ^ last) * 0xd6e8feb86659fd93
	return h >> (64 - recentBits)
}
