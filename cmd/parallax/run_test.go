package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestARunMayNameItself(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "a=b.json")
	if err := os.WriteFile(odd, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][2]string{
		"before=a.otf2":        {"before", "a.otf2"},
		"a.otf2":               {"", "a.otf2"},
		"demo:x?locations=4":   {"", "demo:x?locations=4"},
		"n=demo:x?locations=4": {"n", "demo:x?locations=4"},
		"dir/a=b":              {"", "dir/a=b"},
		odd:                    {"", odd},
	} {
		if name, source := splitRun(text); name != want[0] || source != want[1] {
			t.Errorf("%s is %q of %q", text, source, name)
		}
	}
}
