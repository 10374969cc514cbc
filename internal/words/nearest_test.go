package words

import (
	"strings"
	"testing"
)

func TestRefusalsNameTheNearest(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{NotOneOf("--theme", "drak", "light", "dark").Error(), `--theme "drak": want light or dark; did you mean dark?`},
		{NotOneOf("--theme", "zebra", "light", "dark").Error(), `--theme "zebra": want light or dark`},
		{NotOneOf("--x", "", "a", "b", "c").Error(), `--x "": want a, b or c`},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	if long := NotOneOf("--x", strings.Repeat("é\n", 1e6), "a").Error(); len(long) > 200 {
		t.Errorf("%d bytes of what was typed are said again", len(long))
	}
}
