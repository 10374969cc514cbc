package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// A release is stamped by the linker, see tools/release; elsewhere these are empty.
var released, commit, date string

// version is that of the release, or else the module's version and revision as the linker
// recorded them.
func version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) > 12 && !strings.Contains(v, s.Value[:12]) {
			v += " " + s.Value[:12]
		}
	}
	return v
}

// printVersion writes the version, with --json for programs.
func printVersion(w io.Writer, args []string) error {
	switch {
	case len(args) == 0:
		fmt.Fprintln(w, "parallax "+version())
		return nil
	case len(args) > 1 || args[0] != "--json":
		return usage("version: takes only --json")
	}
	v := map[string]string{"version": version(), "go": runtime.Version(),
		"platform": runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v["commit"] = s.Value
			case "vcs.time":
				v["date"] = s.Value
			}
		}
	}
	if released != "" {
		v["commit"], v["date"] = commit, date
	}
	return json.NewEncoder(w).Encode(v)
}
