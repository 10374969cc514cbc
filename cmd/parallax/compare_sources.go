package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
)

// parseRunBy reads --run-by; nil for none.
func parseRunBy(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	find, err := regexp.Compile(strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/"))
	if err != nil {
		return nil, usage("--run-by %q: %v", text, err)
	}
	if find.NumSubexp() == 0 {
		return nil, usage("--run-by %q: the expression needs a group, such as job-(\\d+)", text)
	}
	return find, nil
}

// globbed puts in the files of globs that no shell has replaced, as in a file of a CI system or on Windows.
func globbed(sources []string) (out []string, err error) {
	for _, s := range sources {
		if _, err := os.Lstat(s); err == nil || !strings.ContainsAny(s, "*?[") || strings.Contains(s, ":") {
			out = append(out, s)
			continue
		}
		files, err := filepath.Glob(s)
		switch {
		case err != nil:
			return nil, usage("%q: %v", s, err)
		case len(files) == 0:
			return nil, fmt.Errorf("compare: no file matches %s", s)
		}
		slices.SortFunc(files, trace.CompareNatural)
		out = append(out, files...)
	}
	return out, nil
}

// runsByName opens the files below some sources, those as one run whose paths agree in the first group of an
// expression.
func runsByName(ctx context.Context, l *load.Loader, sources []string, by *regexp.Regexp) (runs []view.Run, err error) {
	groups := map[string][]string{}
	for _, s := range sources {
		err := filepath.WalkDir(s, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() && !load.IsStore(path):
				return err
			}
			for _, p := range namedBy(by, path) {
				m := by.FindStringSubmatch(filepath.ToSlash(p))
				if m == nil {
					return usage("--run-by %q: nothing of it is in %s", by, p)
				}
				groups[m[1]] = append(groups[m[1]], p)
			}
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.SortFunc(names, trace.CompareNatural)
	joined := *l
	joined.Join = true
	for _, name := range names {
		own, err := joined.All(ctx, groups[name])
		runs = append(runs, own...)
		switch {
		case err != nil:
			return runs, err
		case len(own) > 1:
			return runs, usage("--run-by %q: %s are %d runs, which cannot be joined", by, name, len(own))
		}
		last := &runs[len(runs)-1]
		last.Name, last.Source = name, groups[name][0]
	}
	return runs, nil
}

// namedBy lists the paths that an expression is to be found in: a path that has it, or the entries of an archive that
// has not.
func namedBy(by *regexp.Regexp, path string) []string {
	if by.MatchString(filepath.ToSlash(path)) || load.IsStore(path) {
		return []string{path}
	}
	src, err := importer.NewSource(path)
	if err != nil {
		return []string{path} // opening it says why it cannot be read
	}
	defer src.Close()
	var out []string
	for _, f := range src.Files {
		out = append(out, src.Label(f.Path))
	}
	return out
}

// sidesOf is the side of each run: 0, 1, or -1 for neither.
func sidesOf(runs []view.Run, taken []compare.Taken) []int {
	out := make([]int, len(runs))
	for i := range runs {
		out[i] = -1
		for _, t := range taken {
			if t.Run == runs[i].Name {
				out[i] = strings.Index("AB", t.Side)
			}
		}
	}
	return out
}
