package chrometrace

import (
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Several files, each of a rank, can be read in parts. No link joins two files; communicators and the grid of ranks
// need all of them, and follow at the end, from what each part tells. A whole import is one part.

// An outcome is what one part of a run knows when its files are read.
type outcome struct {
	Source  string
	Files   int // of the run
	Read    int // of this part
	Failed  []string
	Without int64  // files without a base of their times
	Last    string // of these
	Reports []trace.ReportEntry
	Ranks   []rankTold
}

// A rankTold is a process that files are about; its rank is negative where nothing states it.
type rankTold struct {
	Rank     int
	Location trace.LocationID
	Groups   []processGroup
}

// shares tells whether parts of a run can be read by themselves.
func shares(run importer.Run) (why string, ok bool) {
	p := newPlan(run)
	if p.number(); len(p.groups) < 2 {
		return fmt.Sprintf("%s has one file, or files of one rank", run.Source.Name), false
	}
	return "", true
}

// chooseOwn finds the groups of a part: each part has about as many bytes.
func (p *plan) chooseOwn(part, of int) {
	size := map[string]int64{}
	for _, f := range p.run.Source.Files {
		size[f.Path] = f.Size
	}
	sizes := make([]int64, len(p.groups))
	for i, group := range p.groups {
		for _, file := range group {
			sizes[i] += size[p.files[file].path]
		}
	}
	p.own[0], p.own[1] = match.Own(sizes, part, of)
}

// reads tells whether the times of a file are needed here.
func (p *plan) reads(file int) bool {
	for _, group := range p.groups[p.own[0]:p.own[1]] {
		for _, i := range group {
			if i == file {
				return true
			}
		}
	}
	return false
}

// gather puts together what the groups of a part told.
func (p *plan) gather() {
	p.Source, p.Files = p.run.Source.Name, len(p.files)
	for _, err := range p.failed {
		if err != nil {
			p.Failed = append(p.Failed, err.Error())
		}
	}
	for n := range p.groups {
		p.Reports = append(p.Reports, p.reports[n]...)
		p.Ranks = append(p.Ranks, p.told[n]...)
	}
}

// concludeParts ends the input of a run that was read in parts.
func concludeParts(w trace.Writer, told []match.Told) error {
	list := make([]outcome, len(told))
	for i, t := range told {
		if err := match.SetFields(&list[i], t.Data); err != nil {
			return err
		}
		for k := range list[i].Ranks {
			list[i].Ranks[k].Location = t.IDs.Location(list[i].Ranks[k].Location)
		}
	}
	return conclude(w, list)
}

// A conclusion is what all files of a run tell together.
type conclusion struct {
	w      trace.Writer
	source string
	ranks  map[int]trace.LocationID
	// member are the process groups as the file of each rank states them.
	member map[int][]processGroup
	groups []processGroup // of the file that states most
}

func conclude(w trace.Writer, parts []outcome) error {
	p := &conclusion{w: w, source: parts[0].Source, ranks: map[int]trace.LocationID{}, member: map[int][]processGroup{}}
	var without, read int64
	last, failed := "", []string(nil)
	for _, o := range parts {
		without, read, failed = without+o.Without, read+int64(o.Read), append(failed, o.Failed...)
		if o.Without > 0 {
			last = o.Last
		}
	}
	if read == 0 && len(failed) > 0 {
		return errors.New(failed[0])
	}
	importer.Tell(w, trace.Guessed, "files whose times have no known base, taken as if on one clock", without, last)
	for _, what := range failed {
		w.Report(trace.MissingFiles, "files that cannot be read", 1, what)
	}
	for _, o := range parts {
		for _, e := range o.Reports {
			w.Report(e.Kind, e.What, e.Count, e.Example)
		}
		for _, r := range o.Ranks {
			if r.Rank >= 0 {
				p.ranks[r.Rank], p.member[r.Rank] = r.Location, r.Groups
			}
			if len(r.Groups) > len(p.groups) {
				p.groups = r.Groups
			}
		}
	}
	p.communicators()
	p.arrange()
	return nil
}

// communicators defines Kineto's process groups, where all their ranks are here.
func (p *conclusion) communicators() {
	var absent int64
	for _, g := range p.groups {
		name := g.Name
		if g.Description != "" {
			name = g.Description
		}
		members := make([]trace.LocationID, 0, len(g.Ranks))
		for _, r := range g.Ranks {
			if at, ok := p.ranks[r]; ok {
				members = append(members, at)
			}
		}
		if len(members) == 0 || len(members) < len(g.Ranks) {
			absent++
			continue
		}
		p.w.Communicator(trace.Communicator{Name: name, Parent: trace.NoCommunicator, Members: members})
	}
	importer.Tell(p.w, trace.MissingGroups, "process groups with ranks that are not in this run", absent,
		p.source)
}
