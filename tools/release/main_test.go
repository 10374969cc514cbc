package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	date  = time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	small = []file{{"parallax", 0o755, []byte("#!/bin/sh\necho it runs\n")}, {"man/parallax.1", 0o644, []byte(".TH PARALLAX 1\n")}, {"LICENSE", 0o644, []byte("Apache\n")}}
)

func TestArchivesAreTheSameTwiceAndHoldWhatGoesIn(t *testing.T) {
	for name, write := range map[string]func(io.Writer, string, time.Time, []file) error{"tar": writeTar, "zip": writeZip} {
		var a, b bytes.Buffer
		if err := errors.Join(write(&a, "p_1", date, small), write(&b, "p_1", date, small)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: other bytes the second time", name)
		}
		got := map[string]string{}
		if name == "tar" {
			z, err := gzip.NewReader(&a)
			if err != nil {
				t.Fatal(err)
			}
			for r := tar.NewReader(z); ; {
				h, err := r.Next()
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(r)
				got[h.Name] = string(text)
				if !h.ModTime.Equal(date) || h.Uid != 0 || strings.HasSuffix(h.Name, "parallax") && h.Mode != 0o755 {
					t.Errorf("%+v", h)
				}
			}
		} else {
			r, err := zip.NewReader(bytes.NewReader(a.Bytes()), int64(a.Len()))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.File {
				in, _ := f.Open()
				text, _ := io.ReadAll(in)
				got[f.Name] = string(text)
			}
		}
		for _, f := range small {
			if got["p_1/"+f.name] != string(f.data) {
				t.Errorf("%s: %s is %q", name, f.name, got["p_1/"+f.name])
			}
		}
	}
}

func TestPackagesAreTheSameTwice(t *testing.T) {
	r := &release{version: "1.2.3", date: date}
	for _, kind := range []string{"deb", "rpm"} {
		var a, b bytes.Buffer
		if err := errors.Join(writePackage(&a, kind, "amd64", r, small), writePackage(&b, kind, "amd64", r, small)); err != nil {
			t.Fatal(kind, err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: other bytes the second time", kind)
		}
	}
}

// Unpacked where dpkg is, which needs no rights; the name and the program must be there.
func TestADebianPackageUnpacksAndRuns(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not here")
	}
	var p bytes.Buffer
	if err := writePackage(&p, "deb", "amd64", &release{version: "1.2.3", date: date}, small); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	deb := filepath.Join(dir, "x.deb")
	if err := os.WriteFile(deb, p.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("dpkg-deb", "-f", deb, "Package", "Version", "Architecture").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "Package: parallax\nVersion: 1.2.3\nArchitecture: amd64") {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := exec.Command("dpkg-deb", "-x", deb, filepath.Join(dir, "root")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	said, err = exec.Command(filepath.Join(dir, "root", "usr", "bin", "parallax")).CombinedOutput()
	if err != nil || string(said) != "it runs\n" {
		t.Errorf("%v: %q", err, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "root", "usr", "share", "man", "man1", "parallax.1.gz")); err != nil {
		t.Error(err)
	}
}

func TestTheBillNamesTheModulesInTheBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := billOfMaterials(self, &release{version: "1.2.3", date: date})
	if err != nil {
		t.Fatal(err)
	}
	var got bill
	if err := json.Unmarshal(b, &got); err != nil || got.Format != "CycloneDX" || got.Metadata.Component.Version != "1.2.3" {
		t.Fatal(err, string(b))
	}
	for _, c := range got.Components {
		if strings.HasPrefix(c.PURL, "pkg:golang/github.com/goreleaser/nfpm/v2@v2.") && len(c.Properties) == 1 {
			return
		}
	}
	t.Errorf("the packager is in this binary and not in its bill:\n%s", b)
}

func TestRecipesNameVersionAndSums(t *testing.T) {
	dir := t.TempDir()
	r := &release{version: "1.2.3", commit: strings.Repeat("c", 40), root: filepath.Join("..", ".."), out: dir}
	sum := strings.Repeat("ab", 32)
	if err := r.recipes(map[string]string{"parallax_1.2.3_darwin_arm64.tar.gz": sum}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"parallax.rb": `sha256 "` + sum + `"`, "package.py": `version("1.2.3"`, "Containerfile": "FROM scratch"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, lacks %s\n%s", name, err, want, b)
		}
	}
}
