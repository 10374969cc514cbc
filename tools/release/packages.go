package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // packagers register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// places maps files to their paths on a Linux system.
var places = map[string]string{
	"parallax":                  "/usr/bin/parallax",
	"man/parallax.1":            "/usr/share/man/man1/parallax.1.gz",
	"completions/parallax.bash": "/usr/share/bash-completion/completions/parallax",
	"completions/_parallax":     "/usr/share/zsh/vendor-completions/_parallax",
	"completions/parallax.fish": "/usr/share/fish/vendor_completions.d/parallax.fish",
	"completions/parallax.ps1":  "/usr/share/parallax/completions/parallax.ps1",
	"parallax.desktop":          "/usr/share/applications/parallax.desktop",
	"parallax.xml":              "/usr/share/mime/packages/parallax.xml",
	"parallax.svg":              "/usr/share/icons/hicolor/scalable/apps/parallax.svg",
	"LICENSE":                   "/usr/share/doc/parallax/copyright",
	"licences.txt":              "/usr/share/doc/parallax/licences.txt",
	"README.md":                 "/usr/share/doc/parallax/README.md",
	"CHANGELOG.md":              "/usr/share/doc/parallax/CHANGELOG.md",
}

// writePackage writes a .deb or .rpm.
func writePackage(w io.Writer, kind, arch string, r *release, list []file) error {
	dir, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "parallax", Arch: arch, Platform: "linux", Version: r.version, Section: "devel", Priority: "optional",
		Maintainer: "The Parallax authors <parallax@users.noreply.github.com>", Vendor: "Parallax",
		License: "Apache-2.0", MTime: r.date,
		Homepage: "https://github.com/parallax-hpc/parallax",
		Description: "Parallel performance visualization\n Reads traces and profiles of parallel programs (MPI, GPU " +
			"training, Go, services)\n and answers through linked views, in the browser and headless.",
	})
	info.RPM.BuildHost = "parallax" // not the name of this machine
	for _, f := range list {
		to, ok := places[f.name]
		if !ok {
			continue
		}
		data := f.data
		if path.Ext(to) == ".gz" {
			if data, err = pack(data); err != nil {
				return err
			}
		}
		from := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(from, data, f.mode); err != nil {
			return err
		}
		info.Contents = append(info.Contents,
			&files.Content{Source: from, Destination: to,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.date}})
	}
	p, err := nfpm.Get(kind)
	if err != nil {
		return err
	}
	return p.Package(info, w)
}

func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
