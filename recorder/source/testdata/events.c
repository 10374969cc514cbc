/* A recorder, and a trace of the same calls, regions and waits by the same readings of the clock: the sums that it keeps
 * can be held against a trace of the same run. PARTS says which recorder: 1 threads, 2 MPI, 4 OpenMP. Each process
 * leaves PLX_TRACE.RANK, lines of a Chrome trace: `(echo '['; cat PLX_TRACE.*; echo '{}]') > trace.json` makes one. */
#define _GNU_SOURCE
#include <stdint.h>
struct plx_worker;
static void event(const struct plx_worker *w, uint32_t name, int64_t begin, int64_t end);
#define PLX_EVENT event
#include "../c/core.c"
#if PARTS & 1
#include "../c/threads.c"
#endif
#if PARTS & 2
#include "../c/mpi.c"
#endif
#if PARTS & 4
#include "../c/openmp.c"
#endif

static struct { int64_t watched, begin, end; uint32_t name; } *kept;
static long used, room;
static volatile int keeping;

/* The first time stamp of a thread tells it also where what it has open is closed in a copy. */
static void event(const struct plx_worker *w, uint32_t name, int64_t begin, int64_t end) {
	while (__sync_lock_test_and_set(&keeping, 1)) ;
	if (used == room) kept = realloc(kept, (size_t)(room = room ? 2 * room : 1024) * sizeof *kept);
	kept[used].watched = w->watched;
	kept[used].name = name;
	kept[used].begin = begin;
	kept[used++].end = end;
	__sync_lock_release(&keeping);
}

/* A process that has no rank goes by its own number. */
static int number(void) { return plx.rank < 0 ? (int)plx.process : plx.rank; }

/* category gives one that leaves no doubt about a role, as writers of Chrome traces know them. */
static const char *category(const char *role) {
	static const char *const known[][2] = {{"compute", "operator"}, {"copy", "memcpy"}, {"communication", "collective_comm"}};
	size_t i;
	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(role, known[i][0])) return known[i][1];
	return role;
}

static void line(FILE *f, int thread, const char *name, int64_t begin, int64_t end) {
	const char *role = strchr(name, PLX_ROLE);
	long long at = begin + plx.epoch + plx.offset, d = end - begin; /* as the file of moments has it */
	if (d <= 0) return;
	fprintf(f, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"cat\":\"%s\",\"name\":\"%.*s\",\"ts\":%lld.%03lld,\"dur\":%lld.%03lld},\n", number(), thread,
		role ? category(role + 1) : "", role ? (int)(role - name) : (int)strlen(name), name, at / 1000, at % 1000, d / 1000, d % 1000);
}

/* It runs after the file of moments is written. */
__attribute__((destructor(101))) static void write_events(void) {
	char path[1100];
	int thread = 0, k;
	long i;
	FILE *f;
	plx_worker *w;
	if (!plx.workers || !getenv("PLX_TRACE") || getpid() != plx.process) return;
	snprintf(path, sizeof path, "%s.%04d", getenv("PLX_TRACE"), plx.rank);
	if (!(f = fopen(path, "w"))) return;
	if (plx.rank < 0) fprintf(f, "{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}},\n", number(), plx.program);
	else fprintf(f, "{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rank %d\"}},\n", number(), plx.rank);
	for (w = plx.workers; w; w = w->next, thread++) {
		fprintf(f, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}},\n", number(), thread, plx.rank < 0 || w->next ? w->name : "main");
		if (w->outside) line(f, thread, plx.program, w->watched, w->gone ? w->left : plx.ended);
		for (k = 0; k < w->depth; k++) line(f, thread, plx.names[w->tree[k + 1 < w->depth ? w->open[k + 1].node : w->node].name], w->open[k].begin, plx.ended);
		for (i = used - 1; i >= 0; i--) /* of two that begin and end together the outer one, which ended last, comes first */
			if (kept[i].watched == w->watched) line(f, thread, plx.names[kept[i].name], kept[i].begin, kept[i].end);
	}
	fclose(f);
}
