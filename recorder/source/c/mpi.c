/* --- MPI: every call below is taken, timed and passed on to the next of its name ------- */

#include <mpi.h>

#if MPI_VERSION < 3
#define PLX_CONST
#else
#define PLX_CONST const
#endif
typedef PLX_CONST void *plx_in;
typedef PLX_CONST int *plx_ints;

/* PLX_CALLS lists the calls: name for C, for Fortran in small and in large letters, number of
 * arguments, their types in C, and what to note of a call. Fortran takes the same arguments by
 * reference, in the same order, and one more. Bytes are those of a rank's own share. What is
 * noted leans only on arguments that matter on every rank: with MPI_IN_PLACE some do not. */
#define PLX_SENDS(X) \
	X(Send, send, SEND, 6, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6), MESSAGE(2, 3, 4, 6)) \
	X(Bsend, bsend, BSEND, 6, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6), MESSAGE(2, 3, 4, 6)) \
	X(Ssend, ssend, SSEND, 6, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6), MESSAGE(2, 3, 4, 6)) \
	X(Rsend, rsend, RSEND, 6, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6), MESSAGE(2, 3, 4, 6)) \
	X(Isend, isend, ISEND, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), MESSAGE(2, 3, 4, 6)) \
	X(Ibsend, ibsend, IBSEND, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), MESSAGE(2, 3, 4, 6)) \
	X(Issend, issend, ISSEND, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), MESSAGE(2, 3, 4, 6)) \
	X(Irsend, irsend, IRSEND, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), MESSAGE(2, 3, 4, 6)) \
	X(Send_init, send_init, SEND_INIT, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), KEEP(2, 3, 4, 6, 7)) \
	X(Bsend_init, bsend_init, BSEND_INIT, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), KEEP(2, 3, 4, 6, 7)) \
	X(Ssend_init, ssend_init, SSEND_INIT, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), KEEP(2, 3, 4, 6, 7)) \
	X(Rsend_init, rsend_init, RSEND_INIT, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), KEEP(2, 3, 4, 6, 7)) \
	X(Start, start, START, 1, (MPI_Request *a1), STARTED(1)) \
	X(Startall, startall, STARTALL, 2, (int a1, MPI_Request *a2), ALLSTARTED(1, 2)) \
	X(Sendrecv, sendrecv, SENDRECV, 12, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, void *a6, int a7, MPI_Datatype a8, int a9, int a10, MPI_Comm a11, MPI_Status *a12), MESSAGE(2, 3, 4, 11)) \
	X(Sendrecv_replace, sendrecv_replace, SENDRECV_REPLACE, 9, (void *a1, int a2, MPI_Datatype a3, int a4, int a5, int a6, int a7, MPI_Comm a8, MPI_Status *a9), MESSAGE(2, 3, 4, 8))

#define PLX_WAITS(X) \
	X(Recv, recv, RECV, 7, (void *a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Status *a7), NOTHING) \
	X(Irecv, irecv, IRECV, 7, (void *a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), NOTHING) \
	X(Probe, probe, PROBE, 4, (int a1, int a2, MPI_Comm a3, MPI_Status *a4), NOTHING) \
	X(Iprobe, iprobe, IPROBE, 5, (int a1, int a2, MPI_Comm a3, int *a4, MPI_Status *a5), NOTHING) \
	X(Wait, wait, WAIT, 2, (MPI_Request *a1, MPI_Status *a2), NOTHING) \
	X(Waitall, waitall, WAITALL, 3, (int a1, MPI_Request *a2, MPI_Status *a3), NOTHING) \
	X(Waitany, waitany, WAITANY, 4, (int a1, MPI_Request *a2, int *a3, MPI_Status *a4), NOTHING) \
	X(Waitsome, waitsome, WAITSOME, 5, (int a1, MPI_Request *a2, int *a3, int *a4, MPI_Status *a5), NOTHING) \
	X(Test, test, TEST, 3, (MPI_Request *a1, int *a2, MPI_Status *a3), NOTHING) \
	X(Testall, testall, TESTALL, 4, (int a1, MPI_Request *a2, int *a3, MPI_Status *a4), NOTHING) \
	X(Testany, testany, TESTANY, 5, (int a1, MPI_Request *a2, int *a3, int *a4, MPI_Status *a5), NOTHING) \
	X(Testsome, testsome, TESTSOME, 5, (int a1, MPI_Request *a2, int *a3, int *a4, MPI_Status *a5), NOTHING)

#define PLX_COLLECTIVES(X) \
	X(Barrier, barrier, BARRIER, 1, (MPI_Comm a1), JOINT(1)) \
	X(Bcast, bcast, BCAST, 5, (void *a1, int a2, MPI_Datatype a3, int a4, MPI_Comm a5), JOINT(5); BYTES(2, 3)) \
	X(Reduce, reduce, REDUCE, 7, (plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, int a6, MPI_Comm a7), JOINT(7); BYTES(3, 4)) \
	X(Allreduce, allreduce, ALLREDUCE, 6, (plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6), JOINT(6); BYTES(3, 4)) \
	X(Gather, gather, GATHER, 8, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Comm a8), JOINT(8); NOTROOT(7, 8, BYTES(2, 3))) \
	X(Gatherv, gatherv, GATHERV, 9, (plx_in a1, int a2, MPI_Datatype a3, void *a4, plx_ints a5, plx_ints a6, MPI_Datatype a7, int a8, MPI_Comm a9), JOINT(9); NOTROOT(8, 9, BYTES(2, 3))) \
	X(Scatter, scatter, SCATTER, 8, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Comm a8), JOINT(8); NOTROOT(7, 8, BYTES(5, 6))) \
	X(Scatterv, scatterv, SCATTERV, 9, (plx_in a1, plx_ints a2, plx_ints a3, MPI_Datatype a4, void *a5, int a6, MPI_Datatype a7, int a8, MPI_Comm a9), JOINT(9); NOTROOT(8, 9, BYTES(6, 7))) \
	X(Allgather, allgather, ALLGATHER, 7, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7), JOINT(7); BYTES(5, 6)) \
	X(Allgatherv, allgatherv, ALLGATHERV, 8, (plx_in a1, int a2, MPI_Datatype a3, void *a4, plx_ints a5, plx_ints a6, MPI_Datatype a7, MPI_Comm a8), JOINT(8); OWN(5, 7, 8)) \
	X(Alltoall, alltoall, ALLTOALL, 7, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7), JOINT(7); EACH(5, 6, 7)) \
	X(Alltoallv, alltoallv, ALLTOALLV, 9, (plx_in a1, plx_ints a2, plx_ints a3, MPI_Datatype a4, void *a5, plx_ints a6, plx_ints a7, MPI_Datatype a8, MPI_Comm a9), JOINT(9); SUM(6, 8, 9)) \
	X(Alltoallw, alltoallw, ALLTOALLW, 9, (plx_in a1, plx_ints a2, plx_ints a3, PLX_CONST MPI_Datatype *a4, void *a5, plx_ints a6, plx_ints a7, PLX_CONST MPI_Datatype *a8, MPI_Comm a9), JOINT(9)) \
	X(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, 6, (plx_in a1, void *a2, plx_ints a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6), JOINT(6); SUM(3, 4, 6)) \
	X(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, 6, (plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6), JOINT(6); EACH(3, 4, 6)) \
	X(Scan, scan, SCAN, 6, (plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6), JOINT(6); BYTES(3, 4)) \
	X(Exscan, exscan, EXSCAN, 6, (plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6), JOINT(6); BYTES(3, 4)) \
	X(Ibarrier, ibarrier, IBARRIER, 2, (MPI_Comm a1, MPI_Request *a2), JOINT(1)) \
	X(Ibcast, ibcast, IBCAST, 6, (void *a1, int a2, MPI_Datatype a3, int a4, MPI_Comm a5, MPI_Request *a6), JOINT(5); BYTES(2, 3)) \
	X(Ireduce, ireduce, IREDUCE, 8, (plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, int a6, MPI_Comm a7, MPI_Request *a8), JOINT(7); BYTES(3, 4)) \
	X(Iallreduce, iallreduce, IALLREDUCE, 7, (plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6, MPI_Request *a7), JOINT(6); BYTES(3, 4)) \
	X(Igather, igather, IGATHER, 9, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Comm a8, MPI_Request *a9), JOINT(8); NOTROOT(7, 8, BYTES(2, 3))) \
	X(Iscatter, iscatter, ISCATTER, 9, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Comm a8, MPI_Request *a9), JOINT(8); NOTROOT(7, 8, BYTES(5, 6))) \
	X(Iallgather, iallgather, IALLGATHER, 8, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7, MPI_Request *a8), JOINT(7); BYTES(5, 6)) \
	X(Iallgatherv, iallgatherv, IALLGATHERV, 9, (plx_in a1, int a2, MPI_Datatype a3, void *a4, plx_ints a5, plx_ints a6, MPI_Datatype a7, MPI_Comm a8, MPI_Request *a9), JOINT(8); OWN(5, 7, 8)) \
	X(Ialltoall, ialltoall, IALLTOALL, 8, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7, MPI_Request *a8), JOINT(7); EACH(5, 6, 7)) \
	X(Ialltoallv, ialltoallv, IALLTOALLV, 10, (plx_in a1, plx_ints a2, plx_ints a3, MPI_Datatype a4, void *a5, plx_ints a6, plx_ints a7, MPI_Datatype a8, MPI_Comm a9, MPI_Request *a10), JOINT(9); SUM(6, 8, 9)) \
	X(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, 7, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7), BYTES(2, 3)) \
	X(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, 7, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7), BYTES(2, 3)) \
	X(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 9, (plx_in a1, plx_ints a2, plx_ints a3, MPI_Datatype a4, void *a5, plx_ints a6, plx_ints a7, MPI_Datatype a8, MPI_Comm a9), NOTHING) \
	X(Comm_split, comm_split, COMM_SPLIT, 4, (MPI_Comm a1, int a2, int a3, MPI_Comm *a4), JOINT(1)) \
	X(Comm_dup, comm_dup, COMM_DUP, 2, (MPI_Comm a1, MPI_Comm *a2), JOINT(1)) \
	X(Comm_create, comm_create, COMM_CREATE, 3, (MPI_Comm a1, MPI_Group a2, MPI_Comm *a3), JOINT(1)) \
	X(Cart_create, cart_create, CART_CREATE, 6, (MPI_Comm a1, int a2, plx_ints a3, plx_ints a4, int a5, MPI_Comm *a6), JOINT(1))

#define PLX_ONESIDED(X) \
	X(Put, put, PUT, 8, (plx_in a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Win a8), BYTES(2, 3)) \
	X(Get, get, GET, 8, (void *a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Win a8), BYTES(2, 3)) \
	X(Rput, rput, RPUT, 9, (plx_in a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Win a8, MPI_Request *a9), BYTES(2, 3)) \
	X(Rget, rget, RGET, 9, (void *a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Win a8, MPI_Request *a9), BYTES(2, 3)) \
	X(Accumulate, accumulate, ACCUMULATE, 9, (plx_in a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Op a8, MPI_Win a9), BYTES(2, 3)) \
	X(Get_accumulate, get_accumulate, GET_ACCUMULATE, 12, (plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Aint a8, int a9, MPI_Datatype a10, MPI_Op a11, MPI_Win a12), BYTES(5, 6)) \
	X(Fetch_and_op, fetch_and_op, FETCH_AND_OP, 7, (plx_in a1, void *a2, MPI_Datatype a3, int a4, MPI_Aint a5, MPI_Op a6, MPI_Win a7), NOTHING) \
	X(Compare_and_swap, compare_and_swap, COMPARE_AND_SWAP, 7, (plx_in a1, plx_in a2, void *a3, MPI_Datatype a4, int a5, MPI_Aint a6, MPI_Win a7), NOTHING) \
	X(Win_fence, win_fence, WIN_FENCE, 2, (int a1, MPI_Win a2), NOTHING) \
	X(Win_lock, win_lock, WIN_LOCK, 4, (int a1, int a2, int a3, MPI_Win a4), NOTHING) \
	X(Win_unlock, win_unlock, WIN_UNLOCK, 2, (int a1, MPI_Win a2), NOTHING) \
	X(Win_lock_all, win_lock_all, WIN_LOCK_ALL, 2, (int a1, MPI_Win a2), NOTHING) \
	X(Win_unlock_all, win_unlock_all, WIN_UNLOCK_ALL, 1, (MPI_Win a1), NOTHING) \
	X(Win_flush, win_flush, WIN_FLUSH, 2, (int a1, MPI_Win a2), NOTHING) \
	X(Win_flush_all, win_flush_all, WIN_FLUSH_ALL, 1, (MPI_Win a1), NOTHING) \
	X(Win_flush_local, win_flush_local, WIN_FLUSH_LOCAL, 2, (int a1, MPI_Win a2), NOTHING) \
	X(Win_post, win_post, WIN_POST, 3, (MPI_Group a1, int a2, MPI_Win a3), NOTHING) \
	X(Win_start, win_start, WIN_START, 3, (MPI_Group a1, int a2, MPI_Win a3), NOTHING) \
	X(Win_complete, win_complete, WIN_COMPLETE, 1, (MPI_Win a1), NOTHING) \
	X(Win_wait, win_wait, WIN_WAIT, 1, (MPI_Win a1), NOTHING) \
	X(Win_create, win_create, WIN_CREATE, 6, (void *a1, MPI_Aint a2, int a3, MPI_Info a4, MPI_Comm a5, MPI_Win *a6), JOINT(5)) \
	X(Win_allocate, win_allocate, WIN_ALLOCATE, 6, (MPI_Aint a1, int a2, MPI_Info a3, MPI_Comm a4, void *a5, MPI_Win *a6), JOINT(4)) \
	X(Win_free, win_free, WIN_FREE, 1, (MPI_Win *a1), NOTHING)

#define PLX_FILES(X) \
	X(File_close, file_close, FILE_CLOSE, 1, (MPI_File *a1), NOTHING) \
	X(File_sync, file_sync, FILE_SYNC, 1, (MPI_File a1), NOTHING) \
	X(File_read, file_read, FILE_READ, 5, (MPI_File a1, void *a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_write, file_write, FILE_WRITE, 5, (MPI_File a1, plx_in a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_read_all, file_read_all, FILE_READ_ALL, 5, (MPI_File a1, void *a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_write_all, file_write_all, FILE_WRITE_ALL, 5, (MPI_File a1, plx_in a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_read_shared, file_read_shared, FILE_READ_SHARED, 5, (MPI_File a1, void *a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_write_shared, file_write_shared, FILE_WRITE_SHARED, 5, (MPI_File a1, plx_in a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_read_ordered, file_read_ordered, FILE_READ_ORDERED, 5, (MPI_File a1, void *a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_write_ordered, file_write_ordered, FILE_WRITE_ORDERED, 5, (MPI_File a1, plx_in a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(File_read_at, file_read_at, FILE_READ_AT, 6, (MPI_File a1, MPI_Offset a2, void *a3, int a4, MPI_Datatype a5, MPI_Status *a6), BYTES(4, 5)) \
	X(File_write_at, file_write_at, FILE_WRITE_AT, 6, (MPI_File a1, MPI_Offset a2, plx_in a3, int a4, MPI_Datatype a5, MPI_Status *a6), BYTES(4, 5)) \
	X(File_read_at_all, file_read_at_all, FILE_READ_AT_ALL, 6, (MPI_File a1, MPI_Offset a2, void *a3, int a4, MPI_Datatype a5, MPI_Status *a6), BYTES(4, 5)) \
	X(File_write_at_all, file_write_at_all, FILE_WRITE_AT_ALL, 6, (MPI_File a1, MPI_Offset a2, plx_in a3, int a4, MPI_Datatype a5, MPI_Status *a6), BYTES(4, 5))

#define PLX_CALLS(X) PLX_SENDS(X) PLX_WAITS(X) PLX_COLLECTIVES(X) PLX_ONESIDED(X) PLX_FILES(X)

#define PLX_NUMBER(Name, small, large, n, params, note) PLX_##Name,
enum { PLX_Init, PLX_Init_thread, PLX_Finalize, PLX_Comm_free, PLX_File_open, PLX_Off, PLX_CALLS(PLX_NUMBER) PLX_CALL_COUNT };
#undef PLX_NUMBER
#define PLX_NAMED(Name, small, large, n, params, note) "MPI_" #Name,
static const char *const plx_call_names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_free", "MPI_File_open", "recording off", PLX_CALLS(PLX_NAMED)};
#undef PLX_NAMED
static uint32_t plx_call[PLX_CALL_COUNT];

/* plx_next finds the next function of a name: the library's, or another tool's. */
static void *plx_next(const char *name) {
	void *f = dlsym(RTLD_NEXT, name);
	if (!f && !strncmp(name, "MPI_", 4)) {
		char p[64];
		snprintf(p, sizeof p, "P%s", name);
		f = dlsym(RTLD_DEFAULT, p);
	}
	if (!f) {
		fprintf(stderr, "parallax recorder: no %s in the MPI library of this program\n", name);
		abort();
	}
	return f;
}

/* --- communicators: who is rank r of it in the whole job -------------------------------- */

enum { PLX_COMMS = 64 };
static struct plx_comm {
	volatile int known;
	MPI_Comm handle;
	int rank, size;
	int *world; /* rank in the job of each member; 0: the same */
} plx_comms[PLX_COMMS];
static volatile int plx_comm_lock;
static uint8_t *plx_near; /* a bit a rank of the job: is on this host */

static void plx_comm_fill(struct plx_comm *c, MPI_Comm handle) {
	MPI_Group all, mine;
	int i, inter = 0, same = 1, *from;
	PMPI_Comm_rank(handle, &c->rank);
	PMPI_Comm_test_inter(handle, &inter);
	PMPI_Comm_group(MPI_COMM_WORLD, &all);
	if (inter) {
		PMPI_Comm_remote_size(handle, &c->size);
		PMPI_Comm_remote_group(handle, &mine);
	} else {
		PMPI_Comm_size(handle, &c->size);
		PMPI_Comm_group(handle, &mine);
	}
	free(c->world);
	c->world = malloc((size_t)c->size * sizeof *c->world);
	from = malloc((size_t)c->size * sizeof *from);
	if (c->world && from) {
		for (i = 0; i < c->size; i++) from[i] = i;
		PMPI_Group_translate_ranks(mine, c->size, from, all, c->world);
		for (i = 0; i < c->size; i++) same &= c->world[i] == i;
	}
	if (same) {
		free(c->world);
		c->world = 0;
	}
	free(from);
	PMPI_Group_free(&all);
	PMPI_Group_free(&mine);
	if (inter) c->size = -1; /* never the whole job */
	c->handle = handle;
	__sync_synchronize();
	c->known = 1;
}

/* plx_comm_of gives what is known of a communicator, or 0 beyond the table. */
static struct plx_comm *plx_comm_of(MPI_Comm handle) {
	int i;
	if (handle == MPI_COMM_NULL) return 0;
	for (i = 0; i < PLX_COMMS; i++)
		if (plx_comms[i].known && plx_comms[i].handle == handle) return &plx_comms[i];
	while (__sync_lock_test_and_set(&plx_comm_lock, 1)) ;
	for (i = 0; i < PLX_COMMS && plx_comms[i].known; i++) ;
	if (i < PLX_COMMS) plx_comm_fill(&plx_comms[i], handle);
	__sync_lock_release(&plx_comm_lock);
	return i < PLX_COMMS ? &plx_comms[i] : 0;
}

static void plx_comm_drop(MPI_Comm handle) {
	int i;
	for (i = 0; i < PLX_COMMS; i++)
		if (plx_comms[i].known && plx_comms[i].handle == handle) plx_comms[i].known = 0;
}

/* --- what is noted of a call ---------------------------------------------------------------- */

static uint64_t plx_size(MPI_Datatype t) {
	int n = 0;
	if (t == MPI_DATATYPE_NULL) return 0;
	PMPI_Type_size(t, &n);
	return n > 0 ? (uint64_t)n : 0;
}

static uint64_t plx_bytes(int64_t count, MPI_Datatype t) { return count > 0 ? (uint64_t)count * plx_size(t) : 0; }

/* plx_send counts a message. */
static void plx_send(plx_worker *w, int32_t rank, int class, uint64_t bytes) {
	uint32_t i, tries;
	int size = bytes ? 64 - __builtin_clzll(bytes) : 0;
	if (size >= PLX_SIZES) size = PLX_SIZES - 1;
	w->messages[class][size]++;
	w->sent[class][size] += bytes;
	for (i = (uint32_t)rank * 2654435761u >> 26, tries = 0; tries < PLX_PARTNERS; tries++, i++) {
		plx_partner *p = &w->partners[i & (PLX_PARTNERS - 1)];
		if (p->rank == -1) p->rank = rank;
		if (p->rank == rank) {
			p->count++;
			p->bytes += bytes;
			return;
		}
	}
	w->others++;
	w->others_bytes += bytes;
}

static void plx_to(plx_worker *w, int rank, MPI_Comm comm, uint64_t bytes) {
	struct plx_comm *c;
	if (rank < 0) return; /* MPI_PROC_NULL */
	c = plx_comm_of(comm);
	if (!c) {
		w->others++;
		w->others_bytes += bytes;
		return;
	}
	if (c->world) rank = c->world[rank];
	if (rank < 0 || rank >= plx.size) return;
	plx_send(w, rank, rank == plx.rank ? PLX_SELF : plx_near && plx_near[rank >> 3] >> (rank & 7) & 1 ? PLX_HOST : PLX_AWAY, bytes);
}

static int plx_joint(MPI_Comm comm) {
	struct plx_comm *c = plx_comm_of(comm);
	return c && c->size == plx.size;
}

static uint64_t plx_sum(plx_ints counts, MPI_Datatype t, MPI_Comm comm) {
	struct plx_comm *c = plx_comm_of(comm);
	int64_t i, n = 0;
	for (i = 0; c && i < c->size; i++) n += counts[i];
	return plx_bytes(n, t);
}

/* Persistent requests know where they go; starting them does not say. */
enum { PLX_KEPT = 1024 };
static struct { MPI_Request request; int used, rank; MPI_Comm comm; uint64_t bytes; } plx_kept[PLX_KEPT];

static unsigned plx_kept_at(MPI_Request r) {
	uintptr_t u = 0;
	memcpy(&u, &r, sizeof r < sizeof u ? sizeof r : sizeof u);
	return (unsigned)((u ^ u >> 10) * 2654435761u) % PLX_KEPT;
}

static void plx_keep(MPI_Request r, int rank, MPI_Comm comm, uint64_t bytes) {
	unsigned i = plx_kept_at(r), tries;
	for (tries = 0; tries < 32; tries++, i = (i + 1) % PLX_KEPT)
		if (!plx_kept[i].used || plx_kept[i].request == r) {
			plx_kept[i].request = r;
			plx_kept[i].rank = rank;
			plx_kept[i].comm = comm;
			plx_kept[i].bytes = bytes;
			plx_kept[i].used = 1;
			return;
		}
}

static uint64_t plx_started(plx_worker *w, MPI_Request r) {
	unsigned i = plx_kept_at(r), tries;
	for (tries = 0; tries < 32 && plx_kept[i].used; tries++, i = (i + 1) % PLX_KEPT)
		if (plx_kept[i].request == r) {
			plx_to(w, plx_kept[i].rank, plx_kept[i].comm, plx_kept[i].bytes);
			return plx_kept[i].bytes;
		}
	return 0;
}

#define NOTHING (void)0
#define BYTES(n, t) bytes = plx_bytes(INT(n), TYPE(t))
#define MESSAGE(n, t, to, c) (bytes = plx_bytes(INT(n), TYPE(t)), plx_to(w, INT(to), COMM(c), bytes))
#define KEEP(n, t, to, c, r) plx_keep(REQUEST(r, 0), INT(to), COMM(c), plx_bytes(INT(n), TYPE(t)))
#define STARTED(r) bytes = plx_started(w, REQUEST(r, 0))
#define ALLSTARTED(n, r) do { int k; for (k = 0; k < INT(n); k++) bytes += plx_started(w, REQUEST(r, k)); } while (0)
#define JOINT(c) joint = plx_joint(COMM(c))
#define NOTROOT(r, c, note) do { struct plx_comm *k = plx_comm_of(COMM(c)); if (k && k->rank != INT(r) && INT(r) >= 0) note; } while (0)
#define OWN(n, t, c) do { struct plx_comm *k = plx_comm_of(COMM(c)); if (k && k->size > 0) bytes = plx_bytes(INTS(n)[k->rank], TYPE(t)); } while (0)
#define EACH(n, t, c) do { struct plx_comm *k = plx_comm_of(COMM(c)); if (k && k->size > 0) bytes = plx_bytes((int64_t)INT(n) * k->size, TYPE(t)); } while (0)
#define SUM(n, t, c) bytes = plx_sum(INTS(n), TYPE(t), COMM(c))

#define PLX_A1 a1
#define PLX_A2 PLX_A1, a2
#define PLX_A3 PLX_A2, a3
#define PLX_A4 PLX_A3, a4
#define PLX_A5 PLX_A4, a5
#define PLX_A6 PLX_A5, a6
#define PLX_A7 PLX_A6, a7
#define PLX_A8 PLX_A7, a8
#define PLX_A9 PLX_A8, a9
#define PLX_A10 PLX_A9, a10
#define PLX_A11 PLX_A10, a11
#define PLX_A12 PLX_A11, a12

/* C. Started requests are noted before the call: it may end and free them. */
#define INT(k) a##k
#define INTS(k) a##k
#define TYPE(k) a##k
#define COMM(k) a##k
#define REQUEST(k, i) a##k[i]
#define PLX_C(Name, small, large, n, params, note) \
	int MPI_##Name params { \
		static int (*next) params; \
		plx_worker *w; \
		uint64_t bytes = 0; \
		int joint = 0, result; \
		if (!next) *(void **)&next = plx_next("MPI_" #Name); \
		w = plx_enter(); \
		result = next(PLX_A##n); \
		if (w) { note; } \
		plx_leave(w, plx_call[PLX_##Name], bytes, joint); \
		return result; \
	}
PLX_CALLS(PLX_C)

int MPI_Comm_free(MPI_Comm *comm) {
	static int (*next)(MPI_Comm *);
	plx_worker *w;
	int result;
	if (!next) *(void **)&next = plx_next("MPI_Comm_free");
	w = plx_enter();
	if (comm) plx_comm_drop(*comm);
	result = next(comm);
	plx_leave(w, plx_call[PLX_Comm_free], 0, 0);
	return result;
}

int MPI_File_open(MPI_Comm comm, PLX_CONST char *name, int mode, MPI_Info info, MPI_File *file) {
	static int (*next)(MPI_Comm, PLX_CONST char *, int, MPI_Info, MPI_File *);
	plx_worker *w;
	int result;
	if (!next) *(void **)&next = plx_next("MPI_File_open");
	w = plx_enter();
	result = next(comm, name, mode, info, file);
	plx_leave(w, plx_call[PLX_File_open], 0, w && plx_joint(comm));
	return result;
}

/* --- begin and end -------------------------------------------------------------------------- */

static MPI_Comm plx_own = MPI_COMM_NULL;   /* messages of the recorder never meet the program's */
static MPI_Comm plx_host = MPI_COMM_NULL;  /* ranks of this host, which share a clock */
static MPI_Comm plx_hosts = MPI_COMM_NULL; /* the first rank of every host */

/* plx_clock gives what to add to this rank's clock to get that of rank 0: along a tree of
 * hosts, the quickest of ten exchanges with the one above. log2(hosts) steps. */
static int64_t plx_clock(void) {
	int64_t offset = 0, best = INT64_MAX, t = 0;
	int bit, i, rank, size;
	if (plx_hosts != MPI_COMM_NULL) {
		PMPI_Comm_rank(plx_hosts, &rank);
		PMPI_Comm_size(plx_hosts, &size);
		for (bit = 1; bit < size; bit *= 2) ;
		for (bit /= 2; bit > 0; bit /= 2)
			for (i = 0; i < 10; i++) {
				if (rank % (2 * bit) == 0 && rank + bit < size) {
					PMPI_Recv(&t, 8, MPI_BYTE, rank + bit, 0, plx_hosts, MPI_STATUS_IGNORE);
					t = plx.epoch + plx_now() + offset;
					PMPI_Send(&t, 8, MPI_BYTE, rank + bit, 0, plx_hosts);
				} else if (rank % (2 * bit) == bit) {
					int64_t from = plx.epoch + plx_now(), to;
					PMPI_Send(&t, 8, MPI_BYTE, rank - bit, 0, plx_hosts);
					PMPI_Recv(&t, 8, MPI_BYTE, rank - bit, 0, plx_hosts, MPI_STATUS_IGNORE);
					to = plx.epoch + plx_now();
					if (to - from < best) {
						best = to - from;
						offset = t - (from + (to - from) / 2);
					}
				}
			}
	}
	PMPI_Bcast(&offset, 8, MPI_BYTE, 0, plx_host);
	return offset;
}

/* plx_before begins recording before MPI begins. */
static void plx_before(void) {
	int i;
	plx_start(-1, -1);
	for (i = 0; i < PLX_CALL_COUNT; i++) plx_call[i] = plx_name(plx_call_names[i]);
}

/* plx_after learns who we are once MPI has begun. */
static void plx_after(void) {
	int i, rank, size, n, first, *ranks;
	MPI_Group all, near;
	if (plx.rank >= 0) return;
	PMPI_Comm_dup(MPI_COMM_WORLD, &plx_own);
	PMPI_Comm_rank(plx_own, &rank);
	PMPI_Comm_size(plx_own, &size);
	plx.size = size;
	plx.rank = rank;
	PMPI_Bcast(plx.dir, sizeof plx.dir, MPI_CHAR, 0, plx_own);
	if (rank == 0) mkdir(plx.dir, 0777);
	plx_guard(); /* again: libraries below MPI take signals too */
#if MPI_VERSION >= 3
	PMPI_Comm_split_type(plx_own, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &plx_host);
#else
	PMPI_Comm_dup(MPI_COMM_SELF, &plx_host); /* every rank as if on a host of its own */
#endif
	PMPI_Comm_rank(plx_host, &first);
	PMPI_Comm_split(plx_own, first == 0 ? 0 : MPI_UNDEFINED, 0, &plx_hosts);
	plx.offset = plx_clock();
	PMPI_Comm_size(plx_host, &n);
	PMPI_Comm_group(plx_host, &near);
	PMPI_Comm_group(plx_own, &all);
	ranks = malloc(2 * (size_t)n * sizeof *ranks);
	plx_near = calloc((size_t)size / 8 + 1, 1);
	if (ranks && plx_near) {
		for (i = 0; i < n; i++) ranks[i] = i;
		PMPI_Group_translate_ranks(near, n, ranks, all, ranks + n);
		for (i = n; i < 2 * n; i++) plx_near[ranks[i] >> 3] |= (uint8_t)(1 << (ranks[i] & 7));
	}
	free(ranks);
	PMPI_Group_free(&near);
	PMPI_Group_free(&all);
}

/* plx_together writes one file for all ranks. */
static void plx_together(void) {
	static plx_out o;
	uint64_t length, at = 0;
	char name[1200];
	MPI_File f;
	if (!plx.on || __sync_lock_test_and_set(&plx.wrote, 1)) return;
	plx_end();
	plx.on = 0;
	length = plx_length();
	o.fd = -1;
	o.memory = malloc(length);
	if (o.memory) plx_encode(&o, length);
	else length = 0;
	PMPI_Exscan(&length, &at, 1, MPI_UINT64_T, MPI_SUM, plx_own);
	if (plx.rank == 0) at = 0;
	snprintf(name, sizeof name, "%s/run.moments", plx.dir);
	if (PMPI_File_open(plx_own, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f)) {
		if (plx.rank == 0) fprintf(stderr, "parallax recorder: cannot write %s\n", name);
	} else {
		PMPI_File_write_at_all(f, (MPI_Offset)at, o.memory, (int)length, MPI_BYTE, MPI_STATUS_IGNORE);
		PMPI_File_close(&f);
	}
	free(o.memory);
	snprintf(name, sizeof name, "%s/rank-%06d.moments", plx.dir, plx.rank);
	if (plx.every < INT64_MAX) unlink(name); /* what was shown meanwhile */
}

static int plx_files_one(void) {
	const char *s = getenv("PARALLAX_FILES");
	return s ? !strcmp(s, "one") : plx.size >= 1024;
}

/* plx_finishing is called before MPI ends, plx_finished after. */
static void plx_finishing(void) {
	if (plx_own == MPI_COMM_NULL) return;
	plx.later = plx_clock();
	if (plx_files_one()) plx_together();
	if (plx_hosts != MPI_COMM_NULL) PMPI_Comm_free(&plx_hosts);
	PMPI_Comm_free(&plx_host);
	PMPI_Comm_free(&plx_own);
}

int MPI_Init(int *argc, char ***argv) {
	static int (*next)(int *, char ***);
	plx_worker *w;
	int result;
	if (!next) *(void **)&next = plx_next("MPI_Init");
	plx_before();
	w = plx_enter();
	result = next(argc, argv);
	if (w && result == MPI_SUCCESS) plx_after();
	plx_leave(w, plx_call[PLX_Init], 0, 0);
	return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
	static int (*next)(int *, char ***, int, int *);
	plx_worker *w;
	int result;
	if (!next) *(void **)&next = plx_next("MPI_Init_thread");
	plx_before();
	w = plx_enter();
	result = next(argc, argv, required, provided);
	if (w && result == MPI_SUCCESS) plx_after();
	plx_leave(w, plx_call[PLX_Init_thread], 0, 0);
	return result;
}

int MPI_Finalize(void) {
	static int (*next)(void);
	plx_worker *w;
	int result;
	if (!next) *(void **)&next = plx_next("MPI_Finalize");
	w = plx_enter();
	if (w) plx_finishing();
	result = next();
	plx_leave(w, plx_call[PLX_Finalize], 0, 0);
	if (w) plx_write();
	return result;
}

int MPI_Abort(MPI_Comm comm, int code) {
	static int (*next)(MPI_Comm, int);
	if (!next) *(void **)&next = plx_next("MPI_Abort");
	plx.aborted = 1;
	plx_write();
	return next(comm, code);
}

/* MPI_Pcontrol: 0 stops recording on this thread and 1 goes on; n from 3 on begins the region
 * "phase n" and -n ends it. Names need parallax.h: the standard has none here. */
static void plx_control(int level) {
	plx_worker *w = plx_worker_get();
	char name[32];
	if (!w) return;
	if (level == 0 && !w->away) plx_enter();
	else if (level == 1 && w->away) plx_leave(w, plx_call[PLX_Off], 0, 0);
	else if (level >= 3) {
		snprintf(name, sizeof name, "phase %d", level);
		plx_region_enter(w, plx_name(name), plx_now());
	} else if (level <= -3) plx_region_leave(w, plx_now());
}

int MPI_Pcontrol(const int level, ...) {
	plx_control(level);
	return MPI_SUCCESS;
}

/* --- Fortran: the library's own Fortran calls go past the C functions above -------------------- */

#undef INT
#undef INTS
#undef TYPE
#undef COMM
#undef REQUEST
#define INT(k) (*(MPI_Fint *)a##k)
#define INTS(k) ((MPI_Fint *)a##k)
#define TYPE(k) PMPI_Type_f2c(*(MPI_Fint *)a##k)
#define COMM(k) PMPI_Comm_f2c(*(MPI_Fint *)a##k)
#define REQUEST(k, i) PMPI_Request_f2c(((MPI_Fint *)a##k)[i])

#define PLX_P1 void *a1
#define PLX_P2 PLX_P1, void *a2
#define PLX_P3 PLX_P2, void *a3
#define PLX_P4 PLX_P3, void *a4
#define PLX_P5 PLX_P4, void *a5
#define PLX_P6 PLX_P5, void *a6
#define PLX_P7 PLX_P6, void *a7
#define PLX_P8 PLX_P7, void *a8
#define PLX_P9 PLX_P8, void *a9
#define PLX_P10 PLX_P9, void *a10
#define PLX_P11 PLX_P10, void *a11
#define PLX_P12 PLX_P11, void *a12

#define PLX_F(Name, symbol, n) \
	void symbol(PLX_P##n, void *ierror); \
	void symbol(PLX_P##n, void *ierror) { \
		static void (*next)(PLX_P##n, void *); \
		plx_worker *w; \
		if (!next) *(void **)&next = plx_next(#symbol); \
		w = plx_enter(); \
		next(PLX_A##n, ierror); \
		plx_did_##Name(w, PLX_A##n); \
	}
/* The manglings of compilers, and the names of mpi_f08 in Open MPI and MPICH. */
#define PLX_FORTRAN(Name, small, large, n, params, note) \
	__attribute__((noinline)) static void plx_did_##Name(plx_worker *w, PLX_P##n) { \
		uint64_t bytes = 0; \
		int joint = 0; \
		if (w) { note; } \
		plx_leave(w, plx_call[PLX_##Name], bytes, joint); \
	} \
	PLX_F(Name, mpi_##small##_, n) PLX_F(Name, mpi_##small##__, n) PLX_F(Name, mpi_##small, n) \
	PLX_F(Name, MPI_##large, n) PLX_F(Name, mpi_##small##_f08_, n) PLX_F(Name, mpi_##small##_f08ts_, n)
PLX_CALLS(PLX_FORTRAN)

#define PLX_FORTRAN_ENDS(init, init_thread, finalize, abort_, pcontrol, comm_free) \
	void init(void *e); \
	void init(void *e) { \
		static void (*next)(void *); \
		plx_worker *w; \
		if (!next) *(void **)&next = plx_next(#init); \
		plx_before(); \
		w = plx_enter(); \
		next(e); \
		if (w) plx_after(); \
		plx_leave(w, plx_call[PLX_Init], 0, 0); \
	} \
	void init_thread(void *r, void *p, void *e); \
	void init_thread(void *r, void *p, void *e) { \
		static void (*next)(void *, void *, void *); \
		plx_worker *w; \
		if (!next) *(void **)&next = plx_next(#init_thread); \
		plx_before(); \
		w = plx_enter(); \
		next(r, p, e); \
		if (w) plx_after(); \
		plx_leave(w, plx_call[PLX_Init_thread], 0, 0); \
	} \
	void finalize(void *e); \
	void finalize(void *e) { \
		static void (*next)(void *); \
		plx_worker *w; \
		if (!next) *(void **)&next = plx_next(#finalize); \
		w = plx_enter(); \
		if (w) plx_finishing(); \
		next(e); \
		plx_leave(w, plx_call[PLX_Finalize], 0, 0); \
		if (w) plx_write(); \
	} \
	void abort_(void *c, void *n, void *e); \
	void abort_(void *c, void *n, void *e) { \
		static void (*next)(void *, void *, void *); \
		if (!next) *(void **)&next = plx_next(#abort_); \
		plx.aborted = 1; \
		plx_write(); \
		next(c, n, e); \
	} \
	void pcontrol(void *level); \
	void pcontrol(void *level) { plx_control(*(MPI_Fint *)level); } \
	void comm_free(void *c, void *e); \
	void comm_free(void *c, void *e) { \
		static void (*next)(void *, void *); \
		plx_worker *w; \
		if (!next) *(void **)&next = plx_next(#comm_free); \
		w = plx_enter(); \
		plx_comm_drop(PMPI_Comm_f2c(*(MPI_Fint *)c)); \
		next(c, e); \
		plx_leave(w, plx_call[PLX_Comm_free], 0, 0); \
	}
PLX_FORTRAN_ENDS(mpi_init_, mpi_init_thread_, mpi_finalize_, mpi_abort_, mpi_pcontrol_, mpi_comm_free_)
PLX_FORTRAN_ENDS(mpi_init__, mpi_init_thread__, mpi_finalize__, mpi_abort__, mpi_pcontrol__, mpi_comm_free__)
PLX_FORTRAN_ENDS(mpi_init, mpi_init_thread, mpi_finalize, mpi_abort, mpi_pcontrol, mpi_comm_free)
PLX_FORTRAN_ENDS(MPI_INIT, MPI_INIT_THREAD, MPI_FINALIZE, MPI_ABORT, MPI_PCONTROL, MPI_COMM_FREE)
PLX_FORTRAN_ENDS(mpi_init_f08_, mpi_init_thread_f08_, mpi_finalize_f08_, mpi_abort_f08_, mpi_pcontrol_f08_, mpi_comm_free_f08_)
