package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// proveClaims runs the query of each claim and prints both numbers. It reports whether all agree.
func proveClaims(ctx context.Context, w io.Writer, run view.Run, list []finding.Finding) (bool, error) {
	db := newDatabase([]view.Run{run})
	right, all := 0, 0
	for i := range list {
		f := &list[i]
		fmt.Fprintf(w, "\n%2d. %s %s\n", i+1, f.Severity, f.Kind)
		if len(f.Claims) == 0 {
			fmt.Fprintln(w, "    nothing is claimed")
		}
		if without := diagnose.Unclaimed(f); len(without) > 0 {
			fmt.Fprintf(w, "    no query for %s\n", strings.Join(without, ", "))
		}
		proofs, err := proofsOf(ctx, db, f)
		if err != nil {
			return false, fmt.Errorf("check --prove: %w", err)
		}
		for _, p := range proofs {
			verdict := "differs"
			if all++; p.Holds {
				verdict = "holds"
				right++
			}
			told, asked := finding.Evidence{Value: p.Told, Unit: p.Unit}, finding.Evidence{Value: p.Asked, Unit: p.Unit}
			fmt.Fprintf(w, "    %-7s %s: %s stated, %s by query\n            %s\n", verdict, p.Says,
				diagnose.Format(told), diagnose.Format(asked), p.SQL)
		}
	}
	switch {
	case len(list) == 0:
		fmt.Fprintln(w, "\nnothing is found, so nothing is claimed")
	case all == 0:
		fmt.Fprintln(w, "\nno finding has a number that a query gives again")
	default:
		fmt.Fprintf(w, "\n%d of %s hold\n", right, view.Count(all, "claim"))
	}
	return right == all, nil
}

// proofsOf runs the query of each claim of a finding.
func proofsOf(ctx context.Context, db *query.Database, f *finding.Finding) (out []mcp.Proof, err error) {
	for i := range f.Claims {
		c := &f.Claims[i]
		got, err := oneNumber(ctx, db, c.From)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.From, err)
		}
		out = append(out, mcp.Proof{Finding: string(f.Kind), Says: c.Says, Told: c.Value, Asked: got, Unit: c.Unit,
			Holds: sameNumber(c.Value, got, c.Unit), SQL: c.From})
	}
	return out, nil
}

// proveRun computes the findings of a run, and recomputes their numbers by queries.
func proveRun(ctx context.Context, run view.Run) (out []mcp.Proof, err error) {
	values, err := view.NewValues(findings.View, nil)
	if err != nil {
		return nil, err
	}
	if missing := findings.View.Needs.Missing(run.Store); missing != "" {
		return nil, errors.New(missing)
	}
	q := &view.Request{Runs: []view.Run{run}, Values: values, Size: scene.Size{Width: 1600, Height: 900}}
	if q.Selection, err = (view.Spec{}).Resolve(run.Store); err != nil {
		return nil, err
	}
	result, err := view.Ask(ctx, findings.View, q)
	if err != nil {
		return nil, err
	}
	db := newDatabase([]view.Run{run})
	list := result.Data().(findings.Data).Findings
	for i := range list {
		proofs, err := proofsOf(ctx, db, &list[i])
		if err != nil {
			return nil, err
		}
		out = append(out, proofs...)
	}
	return out, nil
}

// sameNumber allows for rounding of floating point sums, and a nanosecond by which a mean is cut off.
func sameNumber(a, b float64, unit string) bool {
	allowed := 1e-9 * max(math.Abs(a), math.Abs(b))
	if unit == "ns" {
		allowed = max(allowed, 1)
	}
	return math.Abs(a-b) <= allowed
}

// oneNumber returns the one cell of a query's answer.
func oneNumber(ctx context.Context, db *query.Database, text string) (float64, error) {
	rows, err := db.Query(ctx, text, query.Limits{})
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		return math.NaN(), rows.Err()
	}
	switch v := rows.Row()[0].(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	}
	return math.NaN(), nil
}
