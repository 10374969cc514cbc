package topology

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/view"
)

// ready are the layouts that need no file, with a description. They go by slot, which is
// the rank where each rank is one location, and distinguishes threads where it is not.
var ready = []view.Example{
	{Name: "block", Note: "a cube, filled in order of rank", Text: `side=ceil(count^(1/3))
x=mod(slot,side)
y=mod(floor(slot/side),side)
z=floor(slot/side/side)`},
	{Name: "plane", Note: "a square, filled in order of rank", Text: `side=ceil(sqrt(count))
x=mod(slot,side)
y=floor(slot/side)
z=0`},
	{Name: "sphere", Note: "rings of ranks on a sphere, none on the poles", Text: `root=ceil(sqrt(count))
theta=2*pi()/root*mod(slot,root)
phi=pi()*(floor(slot/root)+0.5)/root
x=cos(theta)*sin(phi)*100
y=sin(theta)*sin(phi)*100
z=cos(phi)*100`},
	{Name: "sphere-floor", Note: "the sphere of the paper's first listing: the first ring is one pole",
		Text: `rootRanks=sqrt(maxRank)
theta=2*pi()/rootRanks*mod(rank,rootRanks)
phi=pi()/rootRanks*(floor(rank/rootRanks))
x=cos(theta)*sin(phi)*100
y=sin(theta)*sin(phi)*100
z=cos(phi)*100`},
	{Name: "sphere-ceil", Note: "the sphere that TAU ships", Text: `rootRanks=sqrt(maxRank)
theta=2*pi()/rootRanks*mod(rank,rootRanks)
phi=pi()/rootRanks*(ceil(rank/rootRanks))
x=cos(theta)*sin(phi)*100
y=sin(theta)*sin(phi)*100
z=cos(phi)*100`},
	{Name: "cylinder", Note: "rings of ranks, one above the other", Text: `around=ceil(sqrt(count))
theta=2*pi()/around*mod(slot,around)
x=cos(theta)*around/2
y=sin(theta)*around/2
z=floor(slot/around)`},
	{Name: "torus", Note: "rings of ranks round a ring", Text: `side=ceil(sqrt(count))
u=2*pi()/side*mod(slot,side)
v=2*pi()/side*floor(slot/side)
x=(100+35*cos(v))*cos(u)
y=(100+35*cos(v))*sin(u)
z=35*sin(v)`},
	{Name: "scatter", Note: "three events place, the fourth colours", Text: `restrictDim=1
x=(event0.val-event0.min)/(event0.max-event0.min)
y=(event1.val-event1.min)/(event1.max-event1.min)
z=(event2.val-event2.min)/(event2.max-event2.min)
color=event3.val`},
	{Name: "ranks by value", Note: "a plane whose height is the value of event0", Text: `restrictDim=1
side=ceil(sqrt(count))
x=mod(slot,side)
y=floor(slot/side)
z=event0.val`},
}

// block is a layout as its file has it.
func block(e view.Example) string { return "BEGIN_VIZ=" + e.Name + "\n" + e.Text + "\nEND_VIZ\n" }

// readyMade is all of them as one file, with those of the paper.
func readyMade() string {
	var b strings.Builder
	for _, e := range examples() {
		b.WriteString(e.Text)
	}
	return b.String()
}

func examples() []view.Example {
	var out []view.Example
	for _, e := range ready {
		out = append(out, view.Example{Name: e.Name, Note: e.Note, Text: block(e)})
	}
	for _, e := range formula.Examples {
		out = append(out,
			view.Example{Name: e.Name, Note: e.Note + "; for demo:" + e.Demo,
				Text: strings.TrimRight(e.Text, "\n") + "\n"})
	}
	return out
}

// completions are the words of the language: names that are given, and functions.
func completions() []view.Example {
	var out []view.Example
	for _, w := range formula.Vocabulary {
		out = append(out, view.Example{Name: w.Name, Note: w.Note, Text: w.Call})
	}
	return out
}
