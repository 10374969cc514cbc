package server

import "testing"

func TestFilesChosenTogetherHaveASensibleName(t *testing.T) {
	for want, names := range map[string][]string{
		"trace.rank, 3 files": {"trace.rank0.json", "trace.rank1.json", "trace.rank2.json"},
		"profile, 2 files":    {"profile.0.0.0", "profile.1.0.0"},
		"a.json, 2 files":     {"a.json", "b.json"},
		"worker-é, 2 files":   {"worker-é1", "worker-é2"},
		"upload":              {},
	} {
		if got := nameOf(names); got != want {
			t.Errorf("%q are called %q, want %q", names, got, want)
		}
	}
}
