package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestWheelsAreTheSameTwiceAndListWhatTheyHold(t *testing.T) {
	r := &release{version: "1.2.3", date: date, root: "../.."}
	module, err := os.ReadFile(r.modulePath())
	if err != nil {
		t.Fatal(err)
	}
	for platform := range wheelPlatforms {
		a, err := r.newWheel(platform, small[0], module, []byte("Apache"))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := r.newWheel(platform, small[0], module, []byte("Apache"))
		if !bytes.Equal(a.data, b.data) {
			t.Errorf("%s: other bytes the second time", a.name)
		}
		checkRecord(t, a)
	}
	if _, err := r.newWheel("plan9/amd64", small[0], module, nil); err == nil {
		t.Error("a platform without a tag has a wheel")
	}
}

// checkRecord compares the list of a wheel with its files.
func checkRecord(t *testing.T, w *wheel) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(w.data), int64(len(w.data)))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	record := ""
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(in)
		if strings.HasSuffix(f.Name, "/RECORD") {
			record = string(b)
			lines = append(lines, f.Name+",,")
			continue
		}
		sum := sha256.Sum256(b)
		lines = append(lines, fmt.Sprintf("%s,sha256=%s,%d", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(b)))
		if want := f.Name == "parallax/parallax"; (f.Mode()&0o111 != 0) != want {
			t.Errorf("%s: %s has mode %v", w.name, f.Name, f.Mode())
		}
	}
	if record != strings.Join(lines, "\n")+"\n" {
		t.Errorf("%s lists\n%s\nand holds\n%s", w.name, record, strings.Join(lines, "\n"))
	}
}

func TestVersionsAreThoseOfPython(t *testing.T) {
	for version, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3rc1",
		"0.0.0-20260102.0123456789ab": "0.0.0+20260102.0123456789ab"} {
		if got := pythonVersion(version); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}

// pip takes the wheel, and the module in it finds the program beside itself.
func TestPipInstallsTheWheel(t *testing.T) {
	if exec.Command("python3", "-m", "pip", "--version").Run() != nil {
		t.Skip("no pip here")
	}
	r := &release{version: "1.2.3", date: date, root: "../.."}
	module, err := os.ReadFile(r.modulePath())
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.newWheel("linux/amd64", small[0], module, []byte("Apache"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name, to := filepath.Join(dir, strings.Replace(w.name, "manylinux2014_x86_64.musllinux_1_1_x86_64", "any", 1)), filepath.Join(dir, "site")
	if err := os.WriteFile(name, w.data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("python3", "-m", "pip", "install", "--no-index", "--no-deps", "--target", to, name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := exec.Command("python3", "-c", "import parallax; print(parallax._program())")
	c.Env = append(os.Environ(), "PYTHONPATH="+to, "PARALLAX=")
	out, err := c.CombinedOutput()
	if want := filepath.Join(to, "parallax", "parallax"); err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("it finds %s, want %s: %v", out, want, err)
	}
}
