/* The recorder of MPI, and a trace of the same calls by the same readings of the clock: what
 * it keeps can be held against what a trace would have. Each rank leaves PLX_TRACE.RANK, lines
 * of a Chrome trace: `(echo '['; cat PLX_TRACE.*; echo '{}]') > trace.json` makes one. */
#include <stdint.h>
static void event(uint32_t name, int64_t begin, int64_t end);
#define PLX_EVENT event
#include "core.c"
#include "mpi.c"

static struct { uint32_t name; int64_t begin, end; } *kept;
static long used, room;

static void event(uint32_t name, int64_t begin, int64_t end) {
	if (used == room) kept = realloc(kept, (size_t)(room = room ? 2 * room : 1024) * sizeof *kept);
	kept[used].name = name;
	kept[used].begin = begin;
	kept[used++].end = end;
}

static void line(FILE *f, const char *name, int64_t begin, int64_t end) {
	long long at = begin + plx.epoch + plx.offset, d = end - begin; /* as the file of moments has it */
	fprintf(f, "{\"ph\":\"X\",\"pid\":%d,\"tid\":0,\"name\":\"%s\",\"ts\":%lld.%03lld,\"dur\":%lld.%03lld},\n", plx.rank, name, at / 1000, at % 1000, d / 1000, d % 1000);
}

__attribute__((destructor)) static void write_events(void) {
	char path[1100];
	long i;
	FILE *f;
	if (!plx.workers || !getenv("PLX_TRACE")) return;
	snprintf(path, sizeof path, "%s.%04d", getenv("PLX_TRACE"), plx.rank);
	if (!(f = fopen(path, "w"))) return;
	fprintf(f, "{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rank %d\"}},\n", plx.rank, plx.rank);
	line(f, plx.program, plx.workers->watched, plx.ended);
	for (i = 0; i < used; i++) line(f, plx.names[kept[i].name], kept[i].begin, kept[i].end);
	fclose(f);
}
