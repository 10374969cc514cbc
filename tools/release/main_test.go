package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// The test is a static program as Parallax is: installed as such it says that it runs.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "parallax" {
		fmt.Println("it runs with", strings.Join(os.Args[1:], " "))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A package is installed into a root with nothing in it, by the system's own tools, and used there.
func TestPackagesInstallIntoAnEmptyRootAndRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	files := append([]file{{"parallax", 0o755, program}}, small[1:]...)
	for _, kind := range []string{"deb", "rpm"} {
		t.Run(kind, func(t *testing.T) {
			var p bytes.Buffer
			if err := writePackage(&p, kind, runtime.GOARCH, &release{version: "1.2.3", date: date}, files); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			pkg, root := filepath.Join(dir, "x."+kind), filepath.Join(dir, "root")
			if err := os.WriteFile(pkg, p.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := install(pkg, root); errors.Is(err, errNoTool) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			said, err := within(root, "version", "--json").CombinedOutput()
			if errors.Is(err, fs.ErrPermission) {
				t.Skipf("programs cannot be run in a root of their own here: %v", err)
			}
			if err != nil || string(said) != "it runs with version --json\n" {
				t.Errorf("%v: %q", err, said)
			}
			for _, want := range []string{places["man/parallax.1"], places["LICENSE"]} {
				if _, err := os.Stat(filepath.Join(root, want)); err != nil {
					t.Error(err)
				}
			}
			query := []string{"dpkg-deb", "-f", pkg, "Package", "Version"}
			want := "Package: parallax\nVersion: 1.2.3\n"
			if kind == "rpm" {
				query, want = []string{"rpm", "-qp", "--nosignature", "--queryformat", "%{NAME} %{VERSION} %{BUILDHOST} %{LICENSE}", pkg}, "parallax 1.2.3 parallax Apache-2.0"
			}
			if said, err := exec.Command(query[0], query[1:]...).Output(); err != nil || string(said) != want {
				t.Errorf("%v: %q, want %q", err, said, want)
			}
		})
	}
}

func TestTheBillOfMaterialsHasTheModulesOfTheBinary(t *testing.T) {
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
	for _, try := range [][]string{{"ruby", "-c", "parallax.rb"}, {"python3", "-c", "import ast; ast.parse(open('package.py').read())"}} {
		if _, err := exec.LookPath(try[0]); err != nil {
			t.Logf("%s is not here: its recipe was not parsed", try[0])
			continue
		}
		c := exec.Command(try[0], try[1:]...)
		c.Dir = dir
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", try, err, said)
		}
	}
}
