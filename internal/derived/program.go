package derived

import (
	"fmt"
	"hash/fnv"
	"os"
	"runtime/debug"
	"sync"
)

// ProgramVersion is a Version for results that any part of the program may change, such as sentences: a number of the
// commit it was built from. Programs of no commit, or of changed files, have one by the executable, so that a
// developer never meets the results of yesterday's code.
var ProgramVersion = sync.OnceValue(func() int {
	info, _ := debug.ReadBuildInfo()
	return programVersion(info, executable)
})

func programVersion(info *debug.BuildInfo, executable func() string) int {
	h := fnv.New64a()
	h.Write([]byte(commit(info)))
	if commit(info) == "" {
		h.Write([]byte(executable()))
	}
	return int(h.Sum64() >> 1)
}

// commit returns the revision that a program was built from; empty: not known, or files were changed.
func commit(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	switch {
	case of["vcs.modified"] == "false":
		return of["vcs.revision"]
	case of["vcs.modified"] == "" && info.Main.Sum != "": // built from a module that was published
		return info.Main.Version
	}
	return ""
}

// executable names the running file by its size and the time when it was written.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	i, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(i.Size(), i.ModTime().UnixNano())
}
