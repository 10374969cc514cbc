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
 * noted leans only on arguments that matter on every rank: with MPI_IN_PLACE some do not.
 * PLX_TWO is a call and the one that does not wait: the same, and a request. */
#define PLX_TWO(X, I, i, Name, small, LARGE, n, m, note, ...) \
	X(Name, small, LARGE, n, (__VA_ARGS__), note) X(I##small, i##small, I##LARGE, m, (__VA_ARGS__, MPI_Request *a##m), note)

#define PLX_SEND(X, Name, small, LARGE) \
	PLX_TWO(X, I, i, Name, small, LARGE, 6, 7, MESSAGE(2, 3, 4, 6), plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6) \
	X(Name##_init, small##_init, LARGE##_INIT, 7, (plx_in a1, int a2, MPI_Datatype a3, int a4, int a5, MPI_Comm a6, MPI_Request *a7), KEEP(2, 3, 4, 6, 7))
#define PLX_SENDS(X) \
	PLX_SEND(X, Send, send, SEND) PLX_SEND(X, Bsend, bsend, BSEND) PLX_SEND(X, Ssend, ssend, SSEND) PLX_SEND(X, Rsend, rsend, RSEND) \
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
	PLX_TWO(X, I, i, Barrier, barrier, BARRIER, 1, 2, JOINT(1), MPI_Comm a1) \
	PLX_TWO(X, I, i, Bcast, bcast, BCAST, 5, 6, JOINT(5); BYTES(2, 3), void *a1, int a2, MPI_Datatype a3, int a4, MPI_Comm a5) \
	PLX_TWO(X, I, i, Reduce, reduce, REDUCE, 7, 8, JOINT(7); BYTES(3, 4), plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, int a6, MPI_Comm a7) \
	PLX_TWO(X, I, i, Allreduce, allreduce, ALLREDUCE, 6, 7, JOINT(6); BYTES(3, 4), plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6) \
	PLX_TWO(X, I, i, Scan, scan, SCAN, 6, 7, JOINT(6); BYTES(3, 4), plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6) \
	PLX_TWO(X, I, i, Exscan, exscan, EXSCAN, 6, 7, JOINT(6); BYTES(3, 4), plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6) \
	PLX_TWO(X, I, i, Gather, gather, GATHER, 8, 9, JOINT(8); NOTROOT(7, 8, BYTES(2, 3)), plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Comm a8) \
	PLX_TWO(X, I, i, Gatherv, gatherv, GATHERV, 9, 10, JOINT(9); NOTROOT(8, 9, BYTES(2, 3)), plx_in a1, int a2, MPI_Datatype a3, void *a4, plx_ints a5, plx_ints a6, MPI_Datatype a7, int a8, MPI_Comm a9) \
	PLX_TWO(X, I, i, Scatter, scatter, SCATTER, 8, 9, JOINT(8); NOTROOT(7, 8, BYTES(5, 6)), plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Comm a8) \
	PLX_TWO(X, I, i, Scatterv, scatterv, SCATTERV, 9, 10, JOINT(9); NOTROOT(8, 9, BYTES(6, 7)), plx_in a1, plx_ints a2, plx_ints a3, MPI_Datatype a4, void *a5, int a6, MPI_Datatype a7, int a8, MPI_Comm a9) \
	PLX_TWO(X, I, i, Allgather, allgather, ALLGATHER, 7, 8, JOINT(7); BYTES(5, 6), plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7) \
	PLX_TWO(X, I, i, Allgatherv, allgatherv, ALLGATHERV, 8, 9, JOINT(8); OWN(5, 7, 8), plx_in a1, int a2, MPI_Datatype a3, void *a4, plx_ints a5, plx_ints a6, MPI_Datatype a7, MPI_Comm a8) \
	PLX_TWO(X, I, i, Alltoall, alltoall, ALLTOALL, 7, 8, JOINT(7); EACH(5, 6, 7), plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7) \
	PLX_TWO(X, I, i, Alltoallv, alltoallv, ALLTOALLV, 9, 10, JOINT(9); SUM(6, 8, 9), plx_in a1, plx_ints a2, plx_ints a3, MPI_Datatype a4, void *a5, plx_ints a6, plx_ints a7, MPI_Datatype a8, MPI_Comm a9) \
	PLX_TWO(X, I, i, Alltoallw, alltoallw, ALLTOALLW, 9, 10, JOINT(9), plx_in a1, plx_ints a2, plx_ints a3, PLX_CONST MPI_Datatype *a4, void *a5, plx_ints a6, plx_ints a7, PLX_CONST MPI_Datatype *a8, MPI_Comm a9) \
	PLX_TWO(X, I, i, Reduce_scatter, reduce_scatter, REDUCE_SCATTER, 6, 7, JOINT(6); SUM(3, 4, 6), plx_in a1, void *a2, plx_ints a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6) \
	PLX_TWO(X, I, i, Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, 6, 7, JOINT(6); EACH(3, 4, 6), plx_in a1, void *a2, int a3, MPI_Datatype a4, MPI_Op a5, MPI_Comm a6) \
	PLX_TWO(X, I, i, Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, 7, 8, BYTES(2, 3), plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7) \
	PLX_TWO(X, I, i, Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, 7, 8, BYTES(2, 3), plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, MPI_Comm a7) \
	PLX_TWO(X, I, i, Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 9, 10, NOTHING, plx_in a1, plx_ints a2, plx_ints a3, MPI_Datatype a4, void *a5, plx_ints a6, plx_ints a7, MPI_Datatype a8, MPI_Comm a9) \
	X(Comm_split, comm_split, COMM_SPLIT, 4, (MPI_Comm a1, int a2, int a3, MPI_Comm *a4), JOINT(1)) \
	X(Comm_dup, comm_dup, COMM_DUP, 2, (MPI_Comm a1, MPI_Comm *a2), JOINT(1)) \
	X(Comm_create, comm_create, COMM_CREATE, 3, (MPI_Comm a1, MPI_Group a2, MPI_Comm *a3), JOINT(1)) \
	X(Cart_create, cart_create, CART_CREATE, 6, (MPI_Comm a1, int a2, plx_ints a3, plx_ints a4, int a5, MPI_Comm *a6), JOINT(1))

#define PLX_AT_WINDOW 1, (MPI_Win a1), NOTHING
#define PLX_AT_WINDOW_OF 2, (int a1, MPI_Win a2), NOTHING
#define PLX_AT_WINDOW_WITH 3, (MPI_Group a1, int a2, MPI_Win a3), NOTHING
#define PLX_ONESIDED(X) \
	PLX_TWO(X, R, r, Put, put, PUT, 8, 9, BYTES(2, 3), plx_in a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Win a8) \
	PLX_TWO(X, R, r, Get, get, GET, 8, 9, BYTES(2, 3), void *a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Win a8) \
	PLX_TWO(X, R, r, Accumulate, accumulate, ACCUMULATE, 9, 10, BYTES(2, 3), plx_in a1, int a2, MPI_Datatype a3, int a4, MPI_Aint a5, int a6, MPI_Datatype a7, MPI_Op a8, MPI_Win a9) \
	PLX_TWO(X, R, r, Get_accumulate, get_accumulate, GET_ACCUMULATE, 12, 13, BYTES(5, 6), plx_in a1, int a2, MPI_Datatype a3, void *a4, int a5, MPI_Datatype a6, int a7, MPI_Aint a8, int a9, MPI_Datatype a10, MPI_Op a11, MPI_Win a12) \
	X(Fetch_and_op, fetch_and_op, FETCH_AND_OP, 7, (plx_in a1, void *a2, MPI_Datatype a3, int a4, MPI_Aint a5, MPI_Op a6, MPI_Win a7), NOTHING) \
	X(Compare_and_swap, compare_and_swap, COMPARE_AND_SWAP, 7, (plx_in a1, plx_in a2, void *a3, MPI_Datatype a4, int a5, MPI_Aint a6, MPI_Win a7), NOTHING) \
	X(Win_fence, win_fence, WIN_FENCE, PLX_AT_WINDOW_OF) X(Win_unlock, win_unlock, WIN_UNLOCK, PLX_AT_WINDOW_OF) X(Win_lock_all, win_lock_all, WIN_LOCK_ALL, PLX_AT_WINDOW_OF) \
	X(Win_flush, win_flush, WIN_FLUSH, PLX_AT_WINDOW_OF) X(Win_flush_local, win_flush_local, WIN_FLUSH_LOCAL, PLX_AT_WINDOW_OF) \
	X(Win_lock, win_lock, WIN_LOCK, 4, (int a1, int a2, int a3, MPI_Win a4), NOTHING) \
	X(Win_unlock_all, win_unlock_all, WIN_UNLOCK_ALL, PLX_AT_WINDOW) X(Win_flush_all, win_flush_all, WIN_FLUSH_ALL, PLX_AT_WINDOW) \
	X(Win_complete, win_complete, WIN_COMPLETE, PLX_AT_WINDOW) X(Win_wait, win_wait, WIN_WAIT, PLX_AT_WINDOW) \
	X(Win_post, win_post, WIN_POST, PLX_AT_WINDOW_WITH) X(Win_start, win_start, WIN_START, PLX_AT_WINDOW_WITH) \
	X(Win_create, win_create, WIN_CREATE, 6, (void *a1, MPI_Aint a2, int a3, MPI_Info a4, MPI_Comm a5, MPI_Win *a6), JOINT(5)) \
	X(Win_allocate, win_allocate, WIN_ALLOCATE, 6, (MPI_Aint a1, int a2, MPI_Info a3, MPI_Comm a4, void *a5, MPI_Win *a6), JOINT(4)) \
	X(Win_free, win_free, WIN_FREE, 1, (MPI_Win *a1), NOTHING)

#define PLX_FILE(X, Name, small, LARGE, buffer) \
	X(Name, small, LARGE, 5, (MPI_File a1, buffer a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(Name##_all, small##_all, LARGE##_ALL, 5, (MPI_File a1, buffer a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(Name##_shared, small##_shared, LARGE##_SHARED, 5, (MPI_File a1, buffer a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(Name##_ordered, small##_ordered, LARGE##_ORDERED, 5, (MPI_File a1, buffer a2, int a3, MPI_Datatype a4, MPI_Status *a5), BYTES(3, 4)) \
	X(Name##_at, small##_at, LARGE##_AT, 6, (MPI_File a1, MPI_Offset a2, buffer a3, int a4, MPI_Datatype a5, MPI_Status *a6), BYTES(4, 5)) \
	X(Name##_at_all, small##_at_all, LARGE##_AT_ALL, 6, (MPI_File a1, MPI_Offset a2, buffer a3, int a4, MPI_Datatype a5, MPI_Status *a6), BYTES(4, 5))
#define PLX_FILES(X) \
	PLX_FILE(X, File_read, file_read, FILE_READ, void *) PLX_FILE(X, File_write, file_write, FILE_WRITE, plx_in) \
	X(File_close, file_close, FILE_CLOSE, 1, (MPI_File *a1), NOTHING) \
	X(File_sync, file_sync, FILE_SYNC, 1, (MPI_File a1), NOTHING)

#define PLX_CALLS(X) PLX_SENDS(X) PLX_WAITS(X) PLX_COLLECTIVES(X) PLX_ONESIDED(X) PLX_FILES(X)

/* Calls that are more than noted. */
#define PLX_OTHERS(X) X(Init, , , ) X(Init_thread, , , ) X(Finalize, , , ) X(Abort, , , ) X(Comm_free, , , ) X(File_open, , , )

#define PLX_NUMBER(Name, ...) PLX_##Name,
enum { PLX_OTHERS(PLX_NUMBER) PLX_CALLS(PLX_NUMBER) PLX_OFF, PLX_CALL_COUNT };
#define PLX_NAMED(Name, ...) "MPI_" #Name,
static const char *const plx_call_names[] = {PLX_OTHERS(PLX_NAMED) PLX_CALLS(PLX_NAMED) "recording off"};
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
static struct plx_kept { MPI_Request request; int used, rank; MPI_Comm comm; uint64_t bytes; } plx_kept[PLX_KEPT];

static unsigned plx_kept_at(MPI_Request r) {
	uintptr_t u = 0;
	memcpy(&u, &r, sizeof r < sizeof u ? sizeof r : sizeof u);
	return (unsigned)((u ^ u >> 10) * 2654435761u) % PLX_KEPT;
}

static void plx_keep(MPI_Request r, int rank, MPI_Comm comm, uint64_t bytes) {
	unsigned i = plx_kept_at(r), tries;
	for (tries = 0; tries < 32; tries++, i = (i + 1) % PLX_KEPT)
		if (!plx_kept[i].used || plx_kept[i].request == r) {
			struct plx_kept k = {r, 1, rank, comm, bytes};
			plx_kept[i] = k;
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

/* The first arguments of a call, each after its type, or as they are passed on. */
#define PLX_1(type) type a1
#define PLX_2(type) PLX_1(type), type a2
#define PLX_3(type) PLX_2(type), type a3
#define PLX_4(type) PLX_3(type), type a4
#define PLX_5(type) PLX_4(type), type a5
#define PLX_6(type) PLX_5(type), type a6
#define PLX_7(type) PLX_6(type), type a7
#define PLX_8(type) PLX_7(type), type a8
#define PLX_9(type) PLX_8(type), type a9
#define PLX_10(type) PLX_9(type), type a10
#define PLX_11(type) PLX_10(type), type a11
#define PLX_12(type) PLX_11(type), type a12
#define PLX_13(type) PLX_12(type), type a13

/* PLX_TAKE is a function that stands before the next of its name. Fortran's give nothing back:
 * what is passed on for it is not looked at. */
#define PLX_TAKE(Name, symbol, params, args, before, after) \
	int symbol params; \
	int symbol params { \
		static int (*next) params; \
		plx_worker *w; \
		uint64_t bytes = 0; \
		int joint = 0, result; \
		if (!next) *(void **)&next = plx_next(#symbol); \
		w = plx_enter(); \
		before; \
		result = next args; \
		if (w) { after; } \
		plx_leave(w, plx_call[PLX_##Name], bytes, joint); \
		return result; \
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

/* plx_begin begins recording before MPI begins, and with it the call w. */
static plx_worker *plx_begin(plx_worker *w) {
	int i, late = plx.on; /* a part below, or a region, came first */
	plx_start(-1, -1);
	for (i = 0; i < PLX_CALL_COUNT; i++) plx_call[i] = plx_name(plx_call_names[i]);
	return late ? w : plx_enter();
}

/* plx_after learns who we are once MPI has begun. */
static void plx_after(void) {
	int i, rank, size, n, first, begun = 0, *ranks;
	MPI_Group all, near;
	if (PMPI_Initialized(&begun) || !begun || plx.rank >= 0) return;
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
	uint64_t at = 0, length;
	char name[1200];
	plx_out o;
	MPI_File f;
	if (!plx.on || __sync_lock_test_and_set(&plx.wrote, 1)) return;
	plx_end();
	plx.on = 0;
	o = plx_encode();
	length = o.n;
	PMPI_Exscan(&length, &at, 1, MPI_UINT64_T, MPI_SUM, plx_own);
	if (plx.rank == 0) at = 0;
	snprintf(name, sizeof name, "%s/run.moments", plx.dir);
	if (PMPI_File_open(plx_own, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f)) {
		if (plx.rank == 0) fprintf(stderr, "parallax recorder: cannot write %s\n", name);
	} else {
		PMPI_File_write_at_all(f, (MPI_Offset)at, o.b, (int)length, MPI_BYTE, MPI_STATUS_IGNORE);
		PMPI_File_close(&f);
	}
	if (o.room) munmap(o.b, o.room);
	snprintf(name, sizeof name, "%s/rank-%06d.moments", plx.dir, plx.rank);
	if (plx.every < INT64_MAX) unlink(name); /* what was shown meanwhile */
}

/* plx_finishing is called before MPI ends, plx_finished after. */
static void plx_finishing(void) {
	const char *files = getenv("PARALLAX_FILES");
	if (plx_own == MPI_COMM_NULL) return;
	plx.later = plx_clock();
	if (files ? !strcmp(files, "one") : plx.size >= 1024) plx_together();
	if (plx_hosts != MPI_COMM_NULL) PMPI_Comm_free(&plx_hosts);
	PMPI_Comm_free(&plx_host);
	PMPI_Comm_free(&plx_own);
}

static plx_worker *plx_finished(plx_worker *w) {
	plx_leave(w, plx_call[PLX_Finalize], 0, 0);
	plx_write();
	return 0;
}

static void plx_abort(void) {
	plx.aborted = 1;
	plx_write();
}

/* MPI_Pcontrol: 0 stops recording on this thread and 1 goes on; n from 3 on begins the region
 * "phase n" and -n ends it. Names need parallax.h: the standard has none here. */
static void plx_control(int level) {
	plx_worker *w = plx_worker_get();
	char name[32];
	if (!w) return;
	if (level == 0 && !w->away) plx_enter();
	else if (level == 1 && w->away) plx_leave(w, plx_call[PLX_OFF], 0, 0);
	else if (level >= 3) {
		snprintf(name, sizeof name, "phase %d", level);
		plx_region_enter(w, plx_name(name), plx_now());
	} else if (level <= -3) plx_region_leave(w, plx_now());
}

/* --- the functions themselves: C -------------------------------------------------------------- */

#define INT(k) a##k
#define INTS(k) a##k
#define TYPE(k) a##k
#define COMM(k) a##k
#define REQUEST(k, i) a##k[i]
#define PLX_C(...) PLX_C_(__VA_ARGS__)
#define PLX_C_(Name, small, large, n, params, note) PLX_TAKE(Name, MPI_##Name, params, (PLX_##n()), , note)
PLX_CALLS(PLX_C)
PLX_TAKE(Init, MPI_Init, (int *a1, char ***a2), (PLX_2()), w = plx_begin(w), plx_after())
PLX_TAKE(Init_thread, MPI_Init_thread, (int *a1, char ***a2, int a3, int *a4), (PLX_4()), w = plx_begin(w), plx_after())
PLX_TAKE(Finalize, MPI_Finalize, (void), (), if (w) plx_finishing(), w = plx_finished(w))
PLX_TAKE(Abort, MPI_Abort, (MPI_Comm a1, int a2), (PLX_2()), plx_abort(), )
PLX_TAKE(Comm_free, MPI_Comm_free, (MPI_Comm *a1), (a1), if (a1) plx_comm_drop(*a1), )
PLX_TAKE(File_open, MPI_File_open, (MPI_Comm a1, PLX_CONST char *a2, int a3, MPI_Info a4, MPI_File *a5), (PLX_5()), , JOINT(1))

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

/* The manglings of compilers, and the names of mpi_f08 in Open MPI and MPICH. */
#define PLX_FORTRAN(...) PLX_FORTRAN_(__VA_ARGS__)
#define PLX_FORTRAN_(Name, small, large, n, params, note) \
	PLX_F(Name, mpi_##small##_, n, note) PLX_F(Name, mpi_##small##__, n, note) PLX_F(Name, mpi_##small, n, note) \
	PLX_F(Name, MPI_##large, n, note) PLX_F(Name, mpi_##small##_f08_, n, note) PLX_F(Name, mpi_##small##_f08ts_, n, note)
#define PLX_F(Name, symbol, n, note) PLX_TAKE(Name, symbol, (PLX_##n(void *), void *e), (PLX_##n(), e), , note)
PLX_CALLS(PLX_FORTRAN)

#define PLX_FORTRAN_OTHERS(init, init_thread, finalize, abort_, comm_free, pcontrol) \
	PLX_TAKE(Init, init, (void *e), (e), w = plx_begin(w), plx_after()) \
	PLX_TAKE(Init_thread, init_thread, (PLX_2(void *), void *e), (PLX_2(), e), w = plx_begin(w), plx_after()) \
	PLX_TAKE(Finalize, finalize, (void *e), (e), if (w) plx_finishing(), w = plx_finished(w)) \
	PLX_TAKE(Abort, abort_, (PLX_2(void *), void *e), (PLX_2(), e), plx_abort(), ) \
	PLX_TAKE(Comm_free, comm_free, (PLX_1(void *), void *e), (PLX_1(), e), plx_comm_drop(COMM(1)), ) \
	void pcontrol(MPI_Fint *level); \
	void pcontrol(MPI_Fint *level) { plx_control(*level); }
PLX_FORTRAN_OTHERS(mpi_init_, mpi_init_thread_, mpi_finalize_, mpi_abort_, mpi_comm_free_, mpi_pcontrol_)
PLX_FORTRAN_OTHERS(mpi_init__, mpi_init_thread__, mpi_finalize__, mpi_abort__, mpi_comm_free__, mpi_pcontrol__)
PLX_FORTRAN_OTHERS(mpi_init, mpi_init_thread, mpi_finalize, mpi_abort, mpi_comm_free, mpi_pcontrol)
PLX_FORTRAN_OTHERS(MPI_INIT, MPI_INIT_THREAD, MPI_FINALIZE, MPI_ABORT, MPI_COMM_FREE, MPI_PCONTROL)
PLX_FORTRAN_OTHERS(mpi_init_f08_, mpi_init_thread_f08_, mpi_finalize_f08_, mpi_abort_f08_, mpi_comm_free_f08_, mpi_pcontrol_f08_)
