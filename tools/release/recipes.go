package main

import (
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// recipes fills in the recipes of package managers: version, and checksums of the files they fetch.
func (r *release) recipes(sums map[string]string) error {
	names := func(system, processor, ending string) string {
		return "parallax_" + r.version + "_" + system + "_" + processor + ending
	}
	for from, to := range map[string]string{"parallax.rb.tmpl": "parallax.rb", "package.py.tmpl": "package.py",
		"Containerfile": "Containerfile"} {
		t, err := template.New(from).Funcs(template.FuncMap{
			"sum": func(system, processor string) string { return sums[names(system, processor, ".tar.gz")] },
		}).ParseFiles(filepath.Join(r.root, "packaging", from))
		if err != nil {
			return err
		}
		var b strings.Builder
		if err := t.Execute(&b, map[string]string{"Version": r.version, "Commit": r.commit}); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, to), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
