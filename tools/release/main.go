// Command release builds the files of a release: static binaries for six platforms, packed with man page and
// completions, packages for Debian, Red Hat and Python, recipes for Homebrew and Spack, a software bill of
// materials (SBOM) and checksums. The bytes depend on the commit, the version and the Go toolchain alone, so that
// everyone can build them again and compare.
//
// It is a module of its own, so that the product's go.mod stays free of the packager.
//
//	go run -C tools/release . -version 1.0.0
//	go run -C tools/release . -platforms linux/amd64      only one
//	go run -C tools/release . -check                      build twice and compare, install, run
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	r := release{}
	flag.StringVar(&r.version, "version", "", "version without a v; empty: of the last tag, or 0.0.0 with the commit")
	flag.StringVar(&r.root, "root", filepath.Join("..", ".."), "top of the checkout")
	flag.StringVar(&r.out, "out", "", "folder to write; empty: bin/release of the checkout")
	platforms := flag.String("platforms",
		"linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64", "what to build for")
	check := flag.Bool("check", false,
		"build everything once more and compare, then install the packages for this machine and use them")
	flag.Parse()
	r.platforms = strings.Split(*platforms, ",")
	err := r.make()
	if err == nil && *check {
		err = errors.Join(r.again(), r.try())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// again makes the release a second time, elsewhere, and compares every file.
func (r *release) again() error {
	dir, err := os.MkdirTemp("", "release-again-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	second := release{version: r.version, root: r.root, out: dir, platforms: r.platforms}
	if err := second.make(); err != nil {
		return err
	}
	a, err := checksums(r.out)
	if err != nil {
		return err
	}
	b, err := checksums(dir)
	if err != nil {
		return err
	}
	for name := range keys(b) {
		if a[name] != b[name] {
			err = errors.Join(err, fmt.Errorf("%s has other bytes the second time", name))
		}
	}
	if len(a) != len(b) {
		err = errors.Join(err, fmt.Errorf("%d files, and %d the second time", len(a), len(b)))
	}
	if err == nil {
		fmt.Printf("%d files are the same the second time\n", len(a))
	}
	return err
}

// A release is one version of everything.
type release struct {
	version, root, out string
	platforms          []string
	commit             string
	date               time.Time // of the commit
	files              []file    // that go with every binary
	site               []file    // the documents as HTML
}

func (r *release) make() (err error) {
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if r.out == "" {
		r.out = filepath.Join(r.root, "bin", "release")
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	if err := r.identify(); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.files, err = r.companions(); err != nil {
		return err
	}
	for _, p := range r.platforms {
		if err := r.build(p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if err := r.documents(); err != nil {
		return fmt.Errorf("documents: %w", err)
	}
	sums, err := checksums(r.out)
	if err != nil {
		return err
	}
	if err := r.recipes(sums); err != nil {
		return err
	}
	if sums, err = checksums(r.out); err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(keys(sums)) {
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	if err := os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(b.String()), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: version %s of %s, %d files\n", r.out, r.version, r.date.Format(time.DateOnly), len(sums)+1)
	return nil
}

// identify asks git which commit this is, of when, and the version of the last tag.
func (r *release) identify() error {
	said, err := r.output(nil, "git", "log", "-1", "--format=%H %cI")
	if err != nil {
		return err
	}
	var when string
	r.commit, when, _ = strings.Cut(strings.TrimSpace(string(said)), " ")
	if r.date, err = time.Parse(time.RFC3339, when); err != nil {
		return err
	}
	r.date = r.date.UTC()
	if r.version == "" {
		if tag, err := r.output(nil, "git", "describe", "--tags", "--exact-match"); err == nil {
			r.version = strings.TrimPrefix(strings.TrimSpace(string(tag)), "v")
		} else {
			r.version = "0.0.0-" + r.date.Format("20060102") + "." + r.commit[:12]
		}
	}
	if dirty, err := r.output(nil, "git", "status", "--porcelain"); err != nil || len(dirty) > 0 {
		fmt.Fprintln(os.Stderr, "release: the checkout has changes that are in no commit")
	}
	return nil
}

func (r *release) output(env []string, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = r.root, append(os.Environ(), env...)
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s %s: %w: %s", name, args[0], err, bytes.TrimSpace(failed.Stderr))
	}
	return out, err
}

// compile builds the binary for a platform.
func (r *release) compile(platform, to string) error {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("want system/processor")
	}
	stamp := fmt.Sprintf("-s -w -buildid= -X main.released=%s -X main.commit=%s -X main.date=%s", r.version, r.commit,
		r.date.Format(time.RFC3339))
	_,
		err := r.output([]string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + goarch, "GOFLAGS="}, "go", "build",
		"-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", to, "./cmd/parallax")
	return err
}

// companions are the files that go with every binary. The program itself writes its man
// page and completions, so it is built for this machine first.
func (r *release) companions() ([]file, error) {
	dir, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	here := filepath.Join(dir, "parallax")
	if err := r.compile(runtime.GOOS+"/"+runtime.GOARCH, here); err != nil {
		return nil, err
	}
	var out []file
	for name, args := range map[string][]string{
		"man/parallax.1": {"help", "--man"}, "completions/parallax.bash": {"completion", "bash"},
		"completions/_parallax":     {"completion", "zsh"},
		"completions/parallax.fish": {"completion", "fish"}, "completions/parallax.ps1": {"completion", "powershell"},
	} {
		b, err := r.output(nil, here, args...)
		if err != nil {
			return nil, err
		}
		out = append(out, file{name, 0o644, b})
	}
	if r.site, err = r.siteBy(here, filepath.Join(dir, "site")); err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "web/dist/licences.txt",
		"packaging/parallax.desktop", "packaging/parallax.xml", "packaging/parallax.svg"} {
		b, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		out = append(out, file{filepath.Base(name), 0o644, b})
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// siteBy lets the program write its documents.
func (r *release) siteBy(program, dir string) (out []file, err error) {
	if _, err := r.output(nil, program, "docs", "-o", dir); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		name, err = filepath.Rel(dir, name)
		out = append(out, file{filepath.ToSlash(name), 0o644, b})
		return err
	})
	return out, err
}

// documents are the same for all platforms.
func (r *release) documents() error {
	base := "parallax_" + r.version + "_docs"
	var packed bytes.Buffer
	if err := writeTar(&packed, base, r.date, r.site); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, base+".tar.gz"), packed.Bytes(), 0o644)
}

// build makes everything of one platform.
func (r *release) build(platform string) error {
	goos, goarch, _ := strings.Cut(platform, "/")
	base := fmt.Sprintf("parallax_%s_%s_%s", r.version, goos, goarch)
	dir, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := "parallax"
	if goos == "windows" {
		name += ".exe"
	}
	binary := filepath.Join(dir, name)
	if err := r.compile(platform, binary); err != nil {
		return err
	}
	b, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	bill, err := billOfMaterials(binary, r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, base+".sbom.json"), bill, 0o644); err != nil {
		return err
	}
	files := append([]file{{name, 0o755, b}}, r.files...)
	write, ending := writeTar, ".tar.gz"
	if goos == "windows" {
		write, ending = writeZip, ".zip"
	}
	var packed bytes.Buffer
	if err := write(&packed, base, r.date, files); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, base+ending), packed.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: binary %.1f MB, packed %.1f MB\n", platform, float64(len(b))/1e6, float64(packed.Len())/1e6)
	if err := r.writeWheel(platform, files[0]); err != nil {
		return fmt.Errorf("wheel: %w", err)
	}
	if goos != "linux" {
		return nil
	}
	for _, kind := range []string{"deb", "rpm"} {
		var p bytes.Buffer
		if err := writePackage(&p, kind, goarch, r, files); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if err := os.WriteFile(filepath.Join(r.out, base+"."+kind), p.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeWheel writes the Python package of one platform.
func (r *release) writeWheel(platform string, program file) error {
	module, err := os.ReadFile(r.modulePath())
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	w, err := r.newWheel(platform, program, module, licence)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, w.name), w.data, 0o644)
}
