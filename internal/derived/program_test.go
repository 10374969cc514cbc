package derived

import (
	"runtime/debug"
	"testing"
)

func TestResultsAreOfTheCommitOrOfTheExecutable(t *testing.T) {
	built := func(version, sum string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version, Sum: sum}, Settings: settings}
	}
	at := func(revision, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	type program struct {
		info *debug.BuildInfo
		file string
	}
	for _, c := range []struct {
		name string
		a, b program
		same bool
	}{
		{"one commit, built twice", program{built("", "", at("1", "false")...), "x"}, program{built("", "", at("1", "false")...), "y"}, true},
		{"two commits", program{built("", "", at("1", "false")...), "x"}, program{built("", "", at("2", "false")...), "x"}, false},
		{"changed files", program{built("", "", at("1", "true")...), "x"}, program{built("", "", at("1", "true")...), "y"}, false},
		{"a release, installed twice", program{built("v1.2.0", "h1:x"), "x"}, program{built("v1.2.0", "h1:x"), "y"}, true},
		{"two releases", program{built("v1.2.0", "h1:x"), "x"}, program{built("v1.3.0", "h1:y"), "x"}, false},
		{"no commit is known", program{nil, "x"}, program{nil, "y"}, false},
	} {
		version := func(p program) int { return programVersion(p.info, func() string { return p.file }) }
		if same := version(c.a) == version(c.b); same != c.same {
			t.Errorf("%s: same is %v, want %v", c.name, same, c.same)
		}
	}
	if ProgramVersion() != ProgramVersion() || executable() == "" {
		t.Error("the running program has no version")
	}
}
