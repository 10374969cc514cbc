package criticalpath

import (
	"slices"
	"testing"
)

func TestOperationsOnSeveralCallPathsAreLabelledByCaller(t *testing.T) {
	got := labels([]Row{
		{Service: "auth", Region: "by id", CallPath: "core: get > auth: access > auth: by id"},
		{Service: "auth", Region: "by id", CallPath: "core: get > auth: check > auth: by id"},
		{Service: "core", Region: "get", CallPath: "core: get"},
		{Service: "base", Region: "ask", CallPath: "core: get > cart: add > base: ask"},
		{Service: "base", Region: "ask", CallPath: "core: put > cart: add > base: ask"},
	})
	want := []string{"auth: by id in auth: access", "auth: by id in auth: check", "core: get", "base: ask in core: get", "base: ask in core: put"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
