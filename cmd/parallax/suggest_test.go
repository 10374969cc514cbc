package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMistypedCommandsAreSuggested(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"chec", "check"}, {"inof", "info"}, {"veiw", "view"}, {"improt", "import"}, {"versoin", "version"},
	} {
		if _, _, stderr := parallax(t, "help", c.typed); !strings.Contains(stderr, "did you mean "+c.want+"?") {
			t.Errorf("help %s: %q", c.typed, stderr)
		}
		if status, _, stderr := parallax(t, c.typed); status != 2 || !strings.Contains(stderr, "did you mean "+c.want+"?") {
			t.Errorf("%s: %d, %q", c.typed, status, stderr)
		}
	}
	if _, _, stderr := parallax(t, "xyzzyplugh"); strings.Contains(stderr, "did you mean") {
		t.Errorf("a guess where nothing is near: %q", stderr)
	}
}

func TestVersionForPrograms(t *testing.T) {
	_, out, _ := parallax(t, "version", "--json")
	var v map[string]string
	if err := json.Unmarshal([]byte(out), &v); err != nil || v["version"] == "" || v["go"] == "" || v["platform"] == "" {
		t.Errorf("%q: %v", out, err)
	}
}
