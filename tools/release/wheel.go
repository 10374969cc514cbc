package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// wheelPlatforms are the tags of Python packages by platform. The binary is static, so any C library will do.
var wheelPlatforms = map[string][]string{
	"linux/amd64":   {"manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	"linux/arm64":   {"manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	"darwin/amd64":  {"macosx_12_0_x86_64"},
	"darwin/arm64":  {"macosx_12_0_arm64"},
	"windows/amd64": {"win_amd64"},
	"windows/arm64": {"win_arm64"},
}

// pre is a version before another, as Python counts them.
var pre = regexp.MustCompile(`^(a|b|rc)\.?([0-9]+)$`)

// pythonVersion returns a version as Python writes it (PEP 440): 1.2.3-rc.1 becomes 1.2.3rc1, and git's suffix is
// local.
func pythonVersion(version string) string {
	base, rest, more := strings.Cut(version, "-")
	if !more {
		return base
	}
	if m := pre.FindStringSubmatch(rest); m != nil {
		return base + m[1] + m[2]
	}
	return base + "+" + strings.ReplaceAll(rest, "-", ".")
}

// A wheel is a Python package: the module, and the program for one platform.
type wheel struct {
	name string // of the file
	data []byte
}

// newWheel makes a package of the module and the program, which is the first of the files.
func (r *release) newWheel(platform string, program file, module, licence []byte) (*wheel, error) {
	tags := wheelPlatforms[platform]
	if tags == nil {
		return nil, fmt.Errorf("no tag of Python packages is known for %s", platform)
	}
	version := pythonVersion(r.version)
	info := "parallax_hpc-" + version + ".dist-info/"
	described := "Wheel-Version: 1.0\nGenerator: parallax release\nRoot-Is-Purelib: false\n"
	for _, t := range tags {
		described += "Tag: py3-none-" + t + "\n"
	}
	files := []file{
		{"parallax/__init__.py", 0o644, module},
		{"parallax/py.typed", 0o644, nil},
		{"parallax/" + program.name, 0o755, program.data},
		{info + "LICENSE", 0o644, licence},
		{info + "METADATA", 0o644, []byte("Metadata-Version: 2.1\nName: parallax-hpc\nVersion: " + version +
			"\nSummary: Traces and profiles of parallel programs in notebooks: findings, rows, pictures\n" +
			"Home-page: https://github.com/parallax-hpc/parallax\nLicense: Apache-2.0\nRequires-Python: >=3.8\n")},
		{info + "WHEEL", 0o644, []byte(described)},
	}
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, file{info + "RECORD", 0o644, []byte(record.String())})
	var out bytes.Buffer
	if err := writeZip(&out, "", r.date, files); err != nil {
		return nil, err
	}
	return &wheel{fmt.Sprintf("parallax_hpc-%s-py3-none-%s.whl", version, strings.Join(tags, ".")), out.Bytes()}, nil
}

// modulePath returns the path of the module in the checkout.
func (r *release) modulePath() string {
	return filepath.Join(r.root, "internal", "python", "parallax.py")
}
