package query_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/search"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// SQL over a store with damage in any one file gives the rows of the sound store, or an error.
func TestSQLOverDamageIsAnErrorOrTheSameRows(t *testing.T) {
	path := viewtest.WriteLocal(t, writeMessages)
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, x := range table.Tables {
		if !x.Function() {
			texts = append(texts, "select * from "+x.Name)
		}
	}
	answers := func() (rows []string, failed []error) {
		r, err := local.Open(path, nil)
		if err != nil {
			return nil, slices.Repeat([]error{err}, len(texts))
		}
		defer r.Close()
		for _, text := range texts {
			all, err := tryAsk(r, text)
			rows, failed = append(rows, all), append(failed, err)
		}
		return rows, failed
	}
	sound, failed := answers()
	for i, err := range failed {
		if err != nil {
			t.Fatal(texts[i], err)
		}
	}
	if k := slices.Index(texts, "select * from links"); k < 0 || strings.Count(sound[k], "\n") == 0 {
		t.Fatal("the run has no links")
	}
	errs := 0
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		bytes, err := os.ReadFile(file)
		if err != nil || len(bytes) == 0 {
			continue
		}
		bad := slices.Clone(bytes)
		bad[len(bad)/2] ^= 0x40
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		rows, failed := answers()
		for i := range texts {
			if failed[i] != nil {
				errs++
			} else if rows[i] != sound[i] {
				t.Errorf("%s damaged: %s has other rows and no error", e.Name(), texts[i])
			}
		}
		if err := os.WriteFile(file, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if errs < 20 {
		t.Errorf("only %d of the answers are errors", errs)
	}
}

// tryAsk returns the rows of a query, one per line.
func tryAsk(r store.Reader, text string) (string, error) {
	rows, err := database(r).Query(context.Background(), text, query.Limits{Time: time.Hour})
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var out strings.Builder
	for rows.Next() {
		for _, c := range rows.Row() {
			out.WriteString(query.Cell(c) + " ")
		}
		out.WriteString("\n")
	}
	return out.String(), rows.Err()
}

// The causes of an interval over a damaged block are an error, never fewer causes.
func TestCausesOverDamageAreAnError(t *testing.T) {
	path := viewtest.WriteLocal(t, writeMessages)
	file := filepath.Join(path, "interval.region.u32")
	bytes, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range bytes {
		bytes[i] ^= 0x40
	}
	if err := os.WriteFile(file, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := local.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lanes := r.Lanes()
	id := slices.IndexFunc(lanes[1:], func(n uint32) bool { return n > 0 })
	if n, ok, err := search.CausesOf(context.Background(), r, store.Row{Location: trace.LocationID(id)}, 5); err == nil {
		t.Errorf("got %+v, %v and no error", n, ok)
	}
}

// writeMessages writes two ranks that send each other messages from within calls.
func writeMessages(w trace.Writer) {
	main, send := w.Region(trace.Region{Name: "main"}), w.Region(trace.Region{Name: "MPI_Send"})
	var ids [2]trace.LocationID
	for rank := range ids {
		ids[rank] = w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Name: fmt.Sprint("rank ", rank), Rank: rank})
	}
	bytes := w.Attribute("bytes")
	for rank, id := range ids {
		s := w.Stream(id, trace.StreamOptions{})
		s.Enter(0, main)
		for k := range trace.Time(50) {
			s.Enter(10*k+1, send)
			s.Attribute(bytes, trace.Integer(int64(k)))
			s.Leave(10*k+5, send)
			w.Link(trace.Link{Kind: trace.LinkMessage, Size: 8, Communicator: trace.NoCommunicator,
				From: trace.End{Location: id, Time: 10*k + 2, Region: trace.NoRegion},
				To:   trace.End{Location: ids[1-rank], Time: 10*k + 4, Region: trace.NoRegion}})
		}
		s.Leave(600, main)
		s.Close()
	}
}

// A table for people holds no character that drives a terminal, whether one byte or two begin it.
func TestTablesForPeopleDriveNoTerminal(t *testing.T) {
	rows, err := database(two(t)).Query(context.Background(),
		"select 'a' || char(155) || '2Jb' || char(27) || 'c' || char(8238) || 'd' as x", query.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out strings.Builder
	if err := rows.WriteTable(&out); err != nil || !strings.Contains(out.String(), "a 2Jb c d") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
