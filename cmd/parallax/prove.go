package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/view"
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
		for k := range f.Claims {
			c := &f.Claims[k]
			got, err := oneNumber(ctx, db, c.From)
			if err != nil {
				return false, fmt.Errorf("check --prove: %s: %w", c.From, err)
			}
			verdict := "differs"
			if all++; sameNumber(c.Value, got, c.Unit) {
				verdict = "holds"
				right++
			}
			told, asked := finding.Evidence{Value: c.Value, Unit: c.Unit}, finding.Evidence{Value: got, Unit: c.Unit}
			fmt.Fprintf(w, "    %-7s %s: %s told, %s by query\n            %s\n", verdict, c.Says,
				diagnose.Format(told), diagnose.Format(asked), c.From)
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

// sameNumber allows for what sums of floating point numbers lose, and a nanosecond by which a mean is cut off.
func sameNumber(a, b float64, unit string) bool {
	allowed := 1e-9 * max(math.Abs(a), math.Abs(b))
	if unit == "ns" {
		allowed = max(allowed, 1)
	}
	return math.Abs(a-b) <= allowed
}

// oneNumber is the one cell that a query gives.
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
