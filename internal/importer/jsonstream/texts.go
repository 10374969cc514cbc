package jsonstream

// mostTexts and longestText bound the texts that are kept to be used again.
const (
	mostTexts   = 1 << 12
	longestText = 64
)

// Texts are texts that came before, so that those that come often are one string.
type Texts struct{ known map[string]string }

// Intern is bytes as a string.
func (t *Texts) Intern(b []byte) string {
	if s, ok := t.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(b) <= longestText {
		if t.known == nil || len(t.known) >= mostTexts {
			t.known = make(map[string]string, 256)
		}
		t.known[s] = s
	}
	return s
}
