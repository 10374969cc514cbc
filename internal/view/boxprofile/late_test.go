package boxprofile_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
)

// Of very many locations the rows stay in the store: pictures, tables and JSON are as if they did not.
func TestRowsThatStayInTheStoreGiveTheSameAnswers(t *testing.T) {
	viewtest.SameLate(t, boxprofile.View, "Rows",
		viewtest.Case{Name: "whole"},
		viewtest.Case{Name: "a window", Spec: view.Spec{From: "10%", To: "70%"}},
		viewtest.Case{Name: "inclusive, hidden", Options: map[string][]string{"metric": {"inclusive"}, "hide": {"MPI_Call*"}}},
		viewtest.Case{Name: "groups", Options: map[string][]string{"arrange": {"groups"}, "violin": {"none"}}})
}
