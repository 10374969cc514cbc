package warehouse

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
)

func TestTablesOfACluster(t *testing.T) {
	text := strings.Join(layout{cluster: "prod", keep: 180}.statements(), "\n")
	for _, want := range []string{
		"lake_runs on cluster 'prod'", "ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', changed)",
		"intervals_rows on cluster 'prod'", "ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')",
		"Distributed('prod', currentDatabase(), 'intervals_rows', run_id)", "ttl toDateTime(run_start) + interval 180 day",
		"replicated_deduplication_window = 10000",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "create table if not exists profile_rows") && strings.Contains(line, "ttl") {
			t.Error("sums of runs are removed by age")
		}
	}
	if alone := strings.Join(layout{}.statements(), "\n"); strings.Contains(alone, "cluster") ||
		strings.Contains(alone, "Replicated") || strings.Contains(alone, "ttl") {
		t.Error("one server has a cluster's tables")
	}
}

// Rows of a region over years lie together, and times of a run behind each other.
func TestTheOrderOfRowsIsThatOfQuestions(t *testing.T) {
	for _, x := range []struct{ table, order string }{
		{"intervals", "project, `region`, run_start, run_id, `location`, `begin`"},
		{"profile", "project, `region`, run_start, run_id, `location`"},
		{"samples", "project, `counter`, run_start, run_id, `location`, `time`"},
		{"links", "project, run_start, run_id"},
	} {
		for _, of := range lake.Tables {
			if got := strings.Join(key(of), ", "); of.Name == x.table && got != x.order {
				t.Errorf("%s: order is %s, want %s", x.table, got, x.order)
			}
		}
	}
}

func TestOptionsOfAnAddress(t *testing.T) {
	for _, x := range []struct{ address, want string }{
		{"clickhouse://db/traces?keep=180d", ""},
		{"clickhouse://db1,db2/traces?cluster=prod", ""},
		{"clickhouse://db1,db2/traces", "?cluster=NAME"},
		{"clickhouse://db/traces?keep=long", "number of days"},
		{"clickhouse://db/traces?cluster=a'b", "no cluster"},
	} {
		a, err := clickhouse.Parse(x.address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = layoutOf(a)
		if err == nil && x.want != "" || err != nil && (x.want == "" || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.address, err, x.want)
		}
	}
}
