package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/testing/forgetest"
	viewsall "github.com/parallax-hpc/parallax/internal/view/all"
)

// forgedMemory is the budget of each command over a forged store, and of its address space.
const (
	forgedMemory  = 256 << 20
	forgedAddress = 4 << 30
)

// commandsOver lists each verb that reads a store, and each view.
func commandsOver(store, dir string) (out [][]string) {
	for _, v := range viewsall.Views {
		out = append(out, []string{"view", v.Name, store, "-o", filepath.Join(dir, "x.svg")})
	}
	for _, table := range []string{"intervals", "links", "locations", "regions", "marks", "samples", "attributes"} {
		out = append(out, []string{"query", store, "select * from " + table + " limit 20000", "-o",
			filepath.Join(dir, "x.csv")})
	}
	return append(out, []string{"info", store}, []string{"info", store, "--json"}, []string{"verify", store},
		[]string{"check", store},
		[]string{"export", store, "-o", filepath.Join(dir, "tables")}, []string{"compare", store, "--", "demo:stencil"},
		[]string{"report", store, "-o", filepath.Join(dir, "x.html")},
		[]string{"anonymise", store, "-o", filepath.Join(dir, "other.plx")},
		[]string{"query", store, "select region, sum(exclusive) from time_in() group by 1"},
		[]string{"open", store, "--until-eof", "--no-browser"}, []string{"mcp", store})
}

// Small stores that unpack to much are refused before they take it: lists in the manifest, tables of zeros.
func TestSmallStoresThatUnpackToMuchAreRefused(t *testing.T) {
	for what, harm := range map[string]func(path string) error{
		"a manifest of 1 GiB": func(path string) error { return os.Truncate(disk.ManifestPath(path), 1<<30) },
		"a manifest of 12 million objects": func(path string) error {
			list := strings.Repeat("{},", 12_000_000)
			inner := `{"format":"parallax store","version":` + fmt.Sprint(disk.Version) + `,"files":[` + list + `{}]}`
			text := fmt.Sprintf(`{"crc32c":%q,"manifest":%s}`, disk.Checksum([]byte(inner)), inner)
			return os.WriteFile(disk.ManifestPath(path), []byte(text), 0o644)
		},
		"16 million locations in 3 MB": func(path string) error {
			forgetest.Grow(t, path, "location", 16_000_000)
			return nil
		},
	} {
		store := filepath.Join(t.TempDir(), "forged.plx")
		if status, _, said := parallax(t, "import", "demo:stencil?locations=4", "-o", store, "--quiet"); status != 0 {
			t.Fatal(said)
		}
		if err := harm(store); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"info", "verify"} {
			status, said, resident := limited(t, []string{verb, store})
			if status != 1 || !strings.Contains(said, "memory") || resident > forgedMemory {
				t.Errorf("%s of %s: status %d, %d MiB: %.500s", verb, what, status, resident>>20, said)
			}
		}
	}
}

// Every verb over forged stores answers or says that the store is damaged, within --memory: no crash, no hang.
// PARALLAX_FORGED is how many commands are tried.
func TestNoVerbTakesMoreThanItsMemoryForAForgedStore(t *testing.T) {
	tries, _ := strconv.Atoi(os.Getenv("PARALLAX_FORGED"))
	dir := t.TempDir()
	store := filepath.Join(dir, "forged.plx")
	source := "demo:stencil?locations=8&intervals=2000"
	if status, _, said := parallax(t, "import", source, "-o", store, "--quiet"); status != 0 {
		t.Fatal(said)
	}
	forged := forgetest.NewStore(t, store, 53)
	refused, most := 0, int64(0)
	for i := range max(tries, len(commandsOver("", ""))) {
		place := forged.Forge(t)
		out := filepath.Join(dir, fmt.Sprint("out", i))
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		list := commandsOver(store, out)
		args := list[i*31%len(list)]
		status, said, resident := limited(t, args)
		if status == 1 {
			refused++
		} else if status != 0 && status != 4 || strings.Contains(said, "goroutine ") {
			t.Errorf("%s over %s: status %d: %.2000s", strings.Join(args[:2], " "), place, status, said)
		}
		if most = max(most, resident); resident > forgedMemory {
			t.Errorf("%s over %s took %d MiB", strings.Join(args[:2], " "), place, resident>>20)
		}
		os.RemoveAll(out)
	}
	t.Logf("%d commands over forged stores refused, at most %d MiB", refused, most>>20)
}

// limited runs the program under a limit of its address space, and returns its resident memory.
func limited(t *testing.T, args []string) (status int, said string, resident int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-c", fmt.Sprintf(`ulimit -v %d && exec "$@"`, forgedAddress>>10), "sh", self}, args...)
	c := exec.Command("sh", append(args, "--memory", fmt.Sprint(forgedMemory))...)
	file := filepath.Join(t.TempDir(), "peak")
	c.Env = append(os.Environ(), asProgram+"=1", peakFile+"="+file)
	text, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	status = c.ProcessState.ExitCode()
	peak, err := os.ReadFile(file)
	if err != nil {
		return status, string(text), 0 // it crashed: the status tells
	}
	_, after, _ := strings.Cut(string(peak), "VmHWM:")
	if _, err := fmt.Sscanf(after, "%d kB", &resident); err != nil {
		t.Fatal(err)
	}
	return status, string(text), resident << 10
}
