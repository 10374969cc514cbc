package clickhouse_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
)

// full reports whether everything is to be tried, as make test-cluster does.
func full() bool { return os.Getenv("PARALLAX_CLUSTER") == "full" }

func TestAddressNamesServersDatabaseAndRun(t *testing.T) {
	a, err := clickhouse.Parse("clickhouse://ann:s%40crt@db1,db2:9001,[::1]:9002/traces/monday%20morning?timeout=5s&from=1")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"db1:9000", "db2:9001", "[::1]:9002"}; !slices.Equal(a.Hosts, want) || a.User != "ann" || a.Database != "traces" || a.Run != "monday morning" || a.Options.Get("from") != "1" {
		t.Errorf("%+v", a)
	}
	if s := a.String(); strings.Contains(s, "crt") || s != "clickhouse://ann@db1:9000,db2:9001,[::1]:9002/traces/monday%20morning" {
		t.Errorf("written as %s", s)
	}
	if a, err := clickhouse.Parse("clickhouse://db?secure=true"); err != nil || a.Hosts[0] != "db:9440" || a.Database != "default" || a.Run != "" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestAddressThatCannotBeReadDoesNotRepeatThePassword(t *testing.T) {
	for _, s := range []string{
		"clickhouse://u:hidden@/d/r", "clickhouse://u:hidden%zz@h/d/r", "clickhouse://u:hidden@h/a-b/r", "clickhouse://u:hidden@h/d/%zz",
		"clickhouse://u:hidden@h/d/r?timeout=soon", "clickhouse://u:hidden@h/d/r?timeout=-1s", "clickhouse://u:hidden@h/d/r?secure=perhaps",
		"clickhouse://u@h/d/r?password-file=/not/there", "http://u:hidden@h/",
	} {
		if _, err := clickhouse.Parse(s); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestPasswordComesFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PARALLAX_CLICKHOUSE_USER", "ann")
	t.Setenv("PARALLAX_CLICKHOUSE_PASSWORD_FILE", file)
	a, err := clickhouse.Parse("clickhouse://db/traces")
	if err != nil || a.User != "ann" || strings.Contains(a.String(), "hidden") {
		t.Errorf("%v, %v", a, err)
	}
	t.Setenv("PARALLAX_CLICKHOUSE_PASSWORD_FILE", file+".gone")
	if _, err := clickhouse.Parse("clickhouse://db/traces"); err == nil {
		t.Error("a file that is not there is no error")
	}
}
