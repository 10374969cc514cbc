package query_test

import (
	"context"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// FuzzSQL: no text makes a query panic, write, or go on beyond its time.
func FuzzSQL(f *testing.F) {
	for _, text := range []string{
		"select count(*) from intervals", "select name, sum(duration) from intervals group by name order by 2 desc limit 3",
		"with recursive t(x) as (select 1 union all select x+1 from t) select * from t", "select * from intervals i join regions r on i.region = r.id where i.begin > 10",
		"attach database '/tmp/x' as y", "pragma writable_schema=1", "select load_extension('x')", "select randomblob(1000000000)", "values(1);drop table intervals", "select 'a' || \x00",
	} {
		f.Add(text)
	}
	path := viewtest.WriteLocal(f, func(w trace.Writer) { viewtest.WriteSteps(w, 2, 60) })
	d := database(viewtest.OpenLocal(f, path))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := d.Query(context.Background(), text, query.Limits{Time: 300 * time.Millisecond, Rows: 50})
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a word")
			}
			return
		}
		defer r.Close()
		for r.Next() {
			for _, c := range r.Row() {
				query.Cell(c)
			}
		}
	})
}
