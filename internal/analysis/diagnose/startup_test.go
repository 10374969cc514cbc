package diagnose

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestAskingWhetherMPIRunsIsNoStart(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Init": true, "MPI_Init_thread": true, "MPI_Finalize": true, "PMPI_Init": true, "ncclCommInitRank": true,
		"MPI_Initialized": false, "MPI_Finalized": false, "shmem_initialized": false, "MPI_Send": false,
	} {
		if got := isStart(name, trace.RoleCommunication); got != want {
			t.Errorf("%s starts or ends the run: %v, want %v", name, got, want)
		}
	}
}
