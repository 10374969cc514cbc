package contrast_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// Rank 5 works longer, by 80 of 1,000; rank 6 alone waits for it, for 400. Who waits most is
// farthest from the others, and is only hit.
func lateSender() string {
	var b strings.Builder
	b.WriteString("region solve role=compute\nregion MPI_Recv role=communication\nregion MPI_Barrier role=communication\n")
	for p := range 8 {
		solve, recv := 500+p%3, 10
		switch p {
		case 5:
			solve += 200
		case 6:
			recv = 390
		}
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d pid=%d \"listen port\"=%d\n  0..1000 main\n    0..%d solve\n    %d..%d MPI_Recv\n    %d..1000 MPI_Barrier\n", p, p, 4000+p/2, 80+p/6, solve, solve, solve+recv, solve+recv)
	}
	return b.String()
}

func TestWithoutASelectionTheLateSenderIsCompared(t *testing.T) {
	d := data(t, viewtest.Case{Trace: lateSender()})
	if d.A.Label != "rank 5" {
		t.Errorf("compared is %q: %s", d.A.Label, d.Headline)
	}
	if len(d.Rows) == 0 || d.Rows[0].Name != "compute" && d.Rows[0].Name != "solve" || !strings.Contains(d.Headline, "compute") && !strings.Contains(d.Headline, "solve") {
		t.Errorf("the first row is %+v; %s", d.Rows[0], d.Headline)
	}
}

func TestWorkComesBeforeTheWaitingThatFollowsFromIt(t *testing.T) {
	d := data(t, viewtest.Case{Trace: planted(16, 3, 9), Options: options("a", "rank:3", "a", "rank:9")})
	for i, row := range d.Rows {
		if row.Name == "MPI_Wait" && i == 0 {
			t.Errorf("waiting comes first: %+v", row)
		}
		if row.Name == "solve" {
			break
		}
		if row.Name == "MPI_Wait" {
			t.Errorf("MPI_Wait comes before solve")
		}
	}
}

func TestIdentifiersAreNoCauses(t *testing.T) {
	d := data(t, viewtest.Case{Trace: lateSender(), Options: options("a", "rank:6-7")})
	for _, row := range d.Rows {
		if row.Kind == "attribute" {
			t.Errorf("offered as a cause: %s", row.Name)
		}
	}
}

// Threads are compared with threads; the median over streams too would tell nothing.
func TestLikeIsComparedWithLike(t *testing.T) {
	var b strings.Builder
	b.WriteString("region crunch role=compute\nregion kernel role=compute\nlocation process p\n")
	for i := range 6 {
		fmt.Fprintf(&b, "  location thread \"t%d\"\n    0..%d crunch\n", i, 500+i)
	}
	for i := range 10 {
		fmt.Fprintf(&b, "  location stream \"s%d\"\n    0..%d kernel\n", i, 900+i)
	}
	d := data(t, viewtest.Case{Trace: b.String(), Options: options("a", "t0")})
	if strings.Contains(d.B.Label, "s") || !strings.Contains(d.B.Label, "t") {
		t.Errorf("B is %q", d.B.Label)
	}
	for _, row := range d.Rows {
		if row.Name == "kernel" {
			t.Errorf("kernels of streams are compared with a thread: %+v", row)
		}
	}
}
