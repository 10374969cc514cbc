package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/warehouse"
	"github.com/parallax-hpc/parallax/internal/words"
)

// projectHelp is about an option of commands that read the runs of a lake.
const projectHelp = "PROJECT of a lake whose runs are read; needed if the lake has several"

// A lakeReader opens the runs of sources, those of a lake by the outlines that `export --lake` wrote.
type lakeReader struct {
	loader  *load.Loader
	project string
	rows    bool // the rows of runs are needed, too
}

// all returns the runs of sources. The runs of a lake are in order of their start.
func (l *lakeReader) all(ctx context.Context, sources []string) ([]view.Run, error) {
	if len(sources) == 1 {
		if lake.Is(sources[0]) {
			return l.directory(ctx, sources[0])
		}
		if a := databaseOf(sources[0]); a != nil {
			return l.database(ctx, a)
		}
	}
	if l.project != "" {
		return nil, usage("--project is about the runs of a lake, and %s is none", strings.Join(sources, " "))
	}
	return l.loader.All(ctx, sources)
}

// directory returns the runs of a lake in a directory. A run without an outline is opened.
func (l *lakeReader) directory(ctx context.Context, dir string) (runs []view.Run, err error) {
	all, err := lake.Runs(dir)
	if err != nil {
		return nil, err
	}
	var abouts []*lake.About
	for i := range all {
		abouts = append(abouts, &all[i].About)
	}
	if err := l.choose(dir, abouts); err != nil {
		return nil, err
	}
	for i := range all {
		a := &all[i]
		if !l.has(&a.About) {
			continue
		}
		if err := a.ReadOutline(dir); err != nil {
			return runs, err
		}
		r, ok := outlined(&a.About, a.Dir(dir))
		if !ok || l.rows {
			if r, err = l.loader.One(ctx, []string{a.Dir(dir)}); err != nil {
				return runs, err
			}
			r.Name, r.Keys = a.Run, keysOf(&a.About)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// database returns the runs of a lake in a database.
func (l *lakeReader) database(ctx context.Context, a *clickhouse.Address) (runs []view.Run, err error) {
	place, err := warehouse.Open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	all, err := place.Runs(ctx)
	if err != nil {
		return nil, err
	}
	return l.outlines(a.String(), all)
}

// outlines returns runs of a database by their outlines.
func (l *lakeReader) outlines(name string, all []lake.About) (runs []view.Run, err error) {
	var abouts []*lake.About
	for i := range all {
		abouts = append(abouts, &all[i])
	}
	if err := l.choose(name, abouts); err != nil {
		return nil, err
	}
	if l.rows {
		return nil, usage("a limit reads the rows of runs, and %s is compared by the outlines of its runs; limits on "+
			"length, changed and regions do not need rows", name)
	}
	for _, a := range abouts {
		if !l.has(a) {
			continue
		}
		r, ok := outlined(a, name+"/"+a.Run)
		if !ok {
			return nil, fmt.Errorf("%s: run %q was exported by another version; remove it with `parallax rm --lake` "+
				"and export it again", name, a.Run)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (l *lakeReader) has(a *lake.About) bool { return l.project == "" || a.Project == l.project }

// choose checks that the runs are of one project.
func (l *lakeReader) choose(name string, all []*lake.About) error {
	var projects []string
	for _, a := range all {
		if !slices.Contains(projects, a.Project) {
			projects = append(projects, a.Project)
		}
	}
	slices.Sort(projects)
	switch {
	case l.project != "" && !slices.Contains(projects, l.project):
		return usage("--project: %s has no runs of %q%s", name, l.project, words.Suggest(l.project, projects))
	case l.project == "" && len(projects) > 1:
		return usage("%s has runs of several projects: choose one with --project: %s", name,
			strings.Join(projects, ", "))
	}
	return nil
}

// databaseOf returns the address of a database, without a run; nil: the source is another one.
func databaseOf(source string) *clickhouse.Address {
	if !clickhouse.IsAddress(source) {
		return nil
	}
	a, err := clickhouse.Parse(source)
	if err != nil || a.Run != "" {
		return nil
	}
	return a
}

// outlined returns a run by its outline, if that has a fingerprint of this version.
func outlined(a *lake.About, source string) (view.Run, bool) {
	if a.Outline == nil {
		return view.Run{}, false
	}
	r, err := store.OpenOutline(a.Outline)
	if err != nil {
		return view.Run{}, false
	}
	run := view.Run{Name: a.Run, Source: source, Store: r, Keys: keysOf(a)}
	_, ok := fingerprint.OfRun.Found(&run)
	return run, ok
}

// keysOf returns the keys of a run of a lake: those that it was exported with, its project and its start.
func keysOf(a *lake.About) map[string]string {
	keys := map[string]string{"project": a.Project, "start": time.UnixMicro(a.Start).UTC().Format(time.RFC3339)}
	maps.Copy(keys, a.Keys)
	return keys
}
