/* Parallax recorder: moments of utilization, gathered while a program runs.
 *
 * One C99 file without dependencies. Each thread keeps, in memory that does not grow with
 * the run: power sums of its busy time over windows that double in length, and for every
 * call under every region how often, how long, how many bytes. The program
 * `parallax open DIRECTORY` shows what it writes.
 *
 * Settings, all from the environment:
 *   PARALLAX_OUT      directory to write to; by default a new one, parallax-PROGRAM-TIME
 *   PARALLAX_WINDOWS  windows of busy time a thread keeps, 8 to 4096 (64)
 *   PARALLAX_EVERY    seconds after which the file is written anew while the program runs; default: never
 *   PARALLAX_FILES    rank: a file a rank; one: one file for all (MPI; default from 1024 ranks)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PLX_ROLE = 31,      /* stands between the name of a region and its role */
	PLX_OUTSIDE_BUSY = 2,
	PLX_NAMES = 512,    /* names of calls and regions of the process */
	PLX_NODES = 256,    /* regions under regions, a thread */
	PLX_CELLS = 1024,   /* calls under regions, a thread: a power of two */
	PLX_DEPTH = 128,    /* open regions, a thread */
	PLX_THREADS = 256,  /* from here on a thread goes on in the row of one that has ended */
	PLX_PARTNERS = 64,  /* ranks that messages go to, a thread: a power of two */
	PLX_SIZES = 48      /* classes of message sizes: powers of two */
};

/* Where messages go. */
enum { PLX_SELF, PLX_HOST, PLX_AWAY, PLX_CLASSES };

/* Power sums of busy time about origin, the middle of the first interval: adding takes no
 * division, and about a point of the data itself little is lost. */
typedef struct {
	int64_t origin;
	double s0, s1, s2, s3;
} plx_sums;

/* A region as it was entered from another. */
typedef struct {
	uint32_t parent, name;
	uint64_t count, time;
} plx_node;

/* All calls of one name from one region. */
typedef struct {
	uint32_t node, name; /* name 0: not taken */
	uint64_t count, time, least, most, bytes;
	double squares; /* of time */
	double entries; /* sum of the times of entry, of calls of the whole job; else 0 */
	uint64_t joint; /* how many those are */
} plx_cell;

typedef struct {
	int32_t rank; /* -1: not taken */
	uint64_t count, bytes;
} plx_partner;

/* What the system says of a thread: ns that it ran on a core, and ns that it could have run and had none. */
typedef struct {
	uint64_t ran, waited;
} plx_cores;

/* What one thread keeps. Only its thread writes to it. */
typedef struct plx_worker {
	struct plx_worker *next;
	char name[48];
	int numbered;    /* that is its kind and number: it has not got one */
	int64_t since;   /* begin of the busy interval at hand */
	int64_t entered; /* begin of the call at hand */
	int64_t watched; /* first time stamp */
	int64_t due;     /* when the file is to be written anew; where threads wait for others each may do so */
	int away;        /* depth of calls; busy where 0 */
	int outside;     /* busy outside regions too: a thread of MPI or OpenMP */
	int idle;        /* open regions that are waits */
	volatile int gone; /* the thread has ended */
	pid_t thread;    /* which one it is; 0: it has ended, or the row is a task's */
	pid_t number;    /* of the thread that has or had the row; -1: several had it */
	plx_cores begun, had; /* of the thread when it got the row, and of those that had the row before */
	int untold;      /* what of these is not known; a row that shares threads with others has none of its own */
	int64_t left;    /* since when it is outside regions */
	volatile uint32_t changes; /* odd while its thread changes it */
	int shift;       /* a window is 1 << shift ns long */
	int windows;
	uint32_t node, base; /* region at hand; the one that tasks are put below */
	uint32_t waiting;    /* what the call at hand waits for, where it tells by itself */
	int depth, lost; /* open regions; regions deeper than can be kept */
	struct { uint32_t node; int waits; int64_t begin; } open[PLX_DEPTH];
	uint32_t nodes;
	uint64_t dropped; /* calls and regions that found no room */
	uint64_t messages[PLX_CLASSES][PLX_SIZES], sent[PLX_CLASSES][PLX_SIZES];
	uint64_t others, others_bytes; /* messages to partners beyond the table */
	plx_node tree[PLX_NODES];
	plx_cell cells[PLX_CELLS];
	plx_partner partners[PLX_PARTNERS];
	plx_sums window[]; /* as many as windows says */
} plx_worker;

static struct {
	volatile int on;
	int aborted, wrote;
	pid_t process;
	int64_t origin;        /* monotonic clock at the start */
	int64_t epoch;         /* the same moment, ns since 1970 */
	int64_t offset, later; /* to add to get the clock of rank 0, at the start and at the end */
	int64_t ended, every; /* ns; INT64_MAX: never while it runs */
	volatile int64_t due;
	volatile int showing;             /* a thread writes the file while the program runs */
	struct plx_worker *volatile shows; /* which one */
	int32_t rank, size;
	int windows;
	int outside; /* what time outside of named regions is: 1 idle, 2 busy, 3 not recorded */
	char program[128], host[128], dir[1024];
	plx_worker *workers;
	int threads;
	char names[PLX_NAMES][64];
	volatile int named; /* names in use; 0 stands for none */
	volatile int naming;
} plx;

static __thread plx_worker *plx_self __attribute__((tls_model("initial-exec")));

static inline int64_t plx_read(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#ifdef PLX_NOW /* a clock that a test sets */
#define plx_now() ((int64_t)(PLX_NOW))
#else
#define plx_now() (plx_read(CLOCK_MONOTONIC) - plx.origin)
#endif

/* --- names ------------------------------------------------------------------------- */

/* plx_name gives the number of a name. Names are few: the table only grows, and is
 * searched where the caller has not kept the number. */
static uint32_t plx_name(const char *s) {
	int i, n = plx.named;
	for (i = 1; i <= n; i++)
		if (!strncmp(plx.names[i], s, sizeof plx.names[i] - 1)) return (uint32_t)i;
	while (__sync_lock_test_and_set(&plx.naming, 1)) ;
	for (i = n + 1; i <= plx.named; i++)
		if (!strncmp(plx.names[i], s, sizeof plx.names[i] - 1)) break;
	if (i > plx.named) {
		if (i >= PLX_NAMES) i = 0;
		else {
			strncpy(plx.names[i], s, sizeof plx.names[i] - 1);
			__sync_synchronize();
			plx.named = i;
		}
	}
	__sync_lock_release(&plx.naming);
	return (uint32_t)i;
}

/* --- cores --------------------------------------------------------------------------- */

/* Busy time goes by the clock, as a trace has it: a thread that the system takes off its core stays busy. How long
 * that was is known to the system alone, for the whole life of a thread. */

enum { PLX_NO_RAN = 1, PLX_NO_WAITED = 2 };

/* plx_cores_of gives it of a thread that lives, and what the system does not tell. Handlers of signals call it too. */
static int plx_cores_of(pid_t thread, plx_cores *c) {
	struct timespec ran;
	char text[96];
	ssize_t n = -1, i;
	int fd, untold = 0, field = 0;
	c->ran = c->waited = 0;
#ifdef __linux__ /* the clock of another thread, as pthread_getcpuclockid makes it */
	if (!thread || clock_gettime((clockid_t)(~(unsigned)thread << 3 | 6), &ran)) untold = PLX_NO_RAN;
	else c->ran = (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec;
#else
	(void)ran;
	untold = PLX_NO_RAN;
#endif
	snprintf(text, sizeof text, "/proc/self/task/%d/schedstat", (int)thread); /* ran, waited, how often */
	if (thread && (fd = open(text, O_RDONLY | O_CLOEXEC)) >= 0) {
		n = read(fd, text, sizeof text);
		close(fd);
	}
	for (i = 0; i < n && field < 2; i++) {
		if (text[i] < '0' || text[i] > '9') field++;
		else if (field == 1) c->waited = c->waited * 10 + (uint64_t)(text[i] - '0');
	}
	return field == 2 ? untold : untold | PLX_NO_WAITED;
}

/* plx_cores_begin is called by the thread that gets a row, plx_cores_end when it has ended or the file is written. */
static void plx_cores_begin(plx_worker *w) {
#ifdef SYS_gettid
	w->thread = (pid_t)syscall(SYS_gettid);
	w->number = w->number && w->number != w->thread ? -1 : w->thread;
#endif
	w->untold |= plx_cores_of(w->thread, &w->begun);
}

/* plx_called gives the name that the program gave a thread, empty where it gave none. */
static void plx_called(pid_t thread, char *name, size_t room) {
	char file[48];
	ssize_t n = -1;
	int fd;
	snprintf(file, sizeof file, thread ? "/proc/self/task/%d/comm" : "/proc/self/comm", (int)thread);
	if ((fd = open(file, O_RDONLY | O_CLOEXEC)) >= 0) {
		n = read(fd, name, room - 1);
		close(fd);
	}
	name[n > 0 ? n - 1 : 0] = 0; /* without the end of the line */
}

/* plx_title calls a row as its thread is called, unless that is the name of the process, as it is by itself. */
static void plx_title(plx_worker *w) {
	char all[24], own[24];
	if (!w->numbered) return;
	plx_called(0, all, sizeof all);
	plx_called(w->thread, own, sizeof own);
	if (!*own || !strcmp(all, own)) return;
	snprintf(w->name, sizeof w->name, "%s", own);
	w->numbered = 0;
}

static void plx_cores_end(plx_worker *w) {
	plx_cores now;
	if (!w->thread) return;
	plx_title(w);
	w->untold |= plx_cores_of(w->thread, &now); /* nothing if it has ended, and nobody said so */
	w->had.ran += now.ran - w->begun.ran;
	w->had.waited += now.waited - w->begun.waited;
	w->thread = 0;
}

/* --- threads ------------------------------------------------------------------------ */

/* plx_thread_begins has the end of a thread told, where a part below knows how. */
static void (*plx_thread_begins)(plx_worker *);

static void plx_count(plx_worker *w, uint32_t name, int64_t begin, int64_t end, uint64_t bytes, int joint);

/* plx_worker_again gives a new thread the row of one that has ended: of programs that begin threads all the time memory
 * and file do not grow. The time between the two is outside regions. */
static plx_worker *plx_worker_again(int outside) {
	plx_worker *w;
	int64_t now;
	for (w = plx.workers; w && !(w->gone && __sync_bool_compare_and_swap(&w->gone, 1, 0)); ) w = w->next;
	if (!w) return 0;
	now = plx_now();
	w->changes++;
	__sync_synchronize();
	plx_count(w, plx_name("outside regions"), w->left, now, 0, 0);
	w->since = w->left = now;
	w->outside = outside;
	w->away = w->idle = 0;
	__sync_synchronize();
	w->changes++;
	plx_cores_begin(w);
	plx_self = w;
	if (plx_thread_begins) plx_thread_begins(w);
	return w;
}

static plx_worker *plx_worker_new(const char *kind, int outside) {
	size_t size = sizeof(plx_worker) + (size_t)plx.windows * sizeof(plx_sums);
	plx_worker *w = plx.threads < PLX_THREADS ? 0 : plx_worker_again(outside);
	int i, number;
	if (w) return w;
	/* Mapped, not allocated: pages that are never touched cost nothing. */
	w = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w == MAP_FAILED) return 0;
	number = __sync_fetch_and_add(&plx.threads, 1);
	snprintf(w->name, sizeof w->name, number ? "%s %d" : "%s", number ? kind : "main", number);
	w->numbered = number > 0;
	w->windows = plx.windows;
	w->shift = 10;
	w->nodes = 1; /* node 0 is the program */
	w->tree[0].parent = UINT32_MAX;
	w->tree[0].name = plx_name(plx.program);
	w->tree[0].count = 1;
	w->outside = outside;
	plx_cores_begin(w);
	w->since = w->left = w->watched = plx_now();
	w->due = number && !plx_thread_begins ? INT64_MAX : plx.due;
	for (i = 0; i < PLX_PARTNERS; i++) w->partners[i].rank = -1;
	do w->next = plx.workers;
	while (!__sync_bool_compare_and_swap(&plx.workers, w->next, w));
	plx_self = w;
	if (plx_thread_begins) plx_thread_begins(w);
	return w;
}

static inline plx_worker *plx_worker_get(void) {
	if (!plx.on) return 0;
	return plx_self ? plx_self : plx_worker_new("thread", 1);
}

/* --- moments of busy time ------------------------------------------------------------ */

/* plx_move makes the sums those about another origin. */
static void plx_move(plx_sums *s, int64_t origin) {
	double d = (double)(s->origin - origin);
	s->s3 += d * (3 * s->s2 + d * (3 * s->s1 + d * s->s0));
	s->s2 += d * (2 * s->s1 + d * s->s0);
	s->s1 += d * s->s0;
	s->origin = origin;
}

/* plx_double makes windows twice as long, each of two. */
static void plx_double(plx_worker *w) {
	int i, half = w->windows / 2;
	for (i = 0; i < half; i++) {
		plx_sums a = w->window[2 * i], b = w->window[2 * i + 1];
		if (a.s0 == 0) a = b;
		else if (b.s0 > 0) {
			plx_move(&b, a.origin);
			a.s0 += b.s0; a.s1 += b.s1; a.s2 += b.s2; a.s3 += b.s3;
		}
		w->window[i] = a;
	}
	memset(w->window + half, 0, (size_t)half * sizeof *w->window);
	w->shift++;
}

/* plx_busy adds an interval of busy time, in as many windows as it touches. */
static void plx_busy(plx_worker *w, int64_t begin, int64_t end) {
	while (end > begin) {
		int64_t i, stop;
		double l, x, lx, xx, q;
		plx_sums *s;
		while ((end - 1) >> w->shift >= w->windows) plx_double(w);
		i = begin >> w->shift;
		stop = (i + 1) << w->shift;
		if (stop > end) stop = end;
		s = &w->window[i];
		if (s->s0 == 0) s->origin = begin + (stop - begin) / 2;
		l = (double)(stop - begin);
		x = (double)(begin - s->origin) + l / 2;
		lx = l * x; xx = x * x; q = l * l * (1. / 12);
		s->s0 += l; s->s1 += lx; s->s2 += l * (xx + q); s->s3 += lx * (xx + 3 * q);
		begin = stop;
	}
}

/* --- calls --------------------------------------------------------------------------- */

/* plx_works tells whether the thread is busy: not in a call or a wait, and in a region, or
 * outside where that counts. Its busy time since w->since is not in the sums yet. */
static inline int plx_works(const plx_worker *w) { return !w->away && !w->idle && (w->outside || w->depth || w->lost); }

/* plx_turns ends or begins busy time where a change at now made a difference. */
static void plx_turns(plx_worker *w, int worked, int64_t now) {
	int works = plx_works(w);
	if (worked && !works) plx_busy(w, w->since, now);
	if (!worked && works) w->since = now;
}

static void plx_stays(plx_worker *w, int64_t now);

/* plx_known counts a thread as busy outside regions, from now on. */
static void plx_known(plx_worker *w, int64_t now) {
	plx_stays(w, now);
	if ((w->depth || w->lost) && !w->idle) plx_busy(w, w->since, now);
	w->outside = 1;
}

/* plx_enter begins a call; it gives 0 inside another, whose time it is. */
__attribute__((noinline, unused)) static plx_worker *plx_enter(void) {
	plx_worker *w = plx_worker_get();
	if (!w || w->away++) return 0;
	w->entered = plx_now();
	if (!w->outside) plx_known(w, w->entered);
	else if (!w->idle) plx_busy(w, w->since, w->entered);
	return w;
}

static plx_cell *plx_cell_of(plx_worker *w, uint32_t name) {
	uint32_t i = (name * 2654435761u ^ w->node * 40503u) & (PLX_CELLS - 1), tries;
	for (tries = 0; tries < 64; tries++, i = (i + 1) & (PLX_CELLS - 1)) {
		plx_cell *c = &w->cells[i];
		if (c->name == name && c->node == w->node) return c;
		if (!c->name) {
			c->node = w->node;
			c->least = UINT64_MAX;
			c->name = name;
			return c;
		}
	}
	return 0;
}

#ifndef PLX_EVENT /* a test keeps a trace beside the sums */
#define PLX_EVENT(w, name, begin, end) ((void)0)
#endif

/* plx_count adds a call that lasted from begin to end. */
__attribute__((unused)) static void plx_count(plx_worker *w, uint32_t name, int64_t begin, int64_t end, uint64_t bytes, int joint) {
	plx_cell *c = plx_cell_of(w, name);
	uint64_t time = end > begin ? (uint64_t)(end - begin) : 0;
	PLX_EVENT(w, name, begin, end);
	if (!c) {
		w->dropped++;
		return;
	}
	c->count++;
	c->time += time;
	c->bytes += bytes;
	c->squares += (double)time * (double)time;
	if (time < c->least) c->least = time;
	if (time > c->most) c->most = time;
	if (joint) {
		c->entries += (double)begin;
		c->joint++;
	}
}

static void plx_show(plx_worker *w, int64_t now);

/* plx_leave ends the call that plx_enter began. */
__attribute__((noinline, unused)) static void plx_leave(plx_worker *w, uint32_t name, uint64_t bytes, int joint) {
	if (!w) {
		if (plx_self && plx_self->away > 0) plx_self->away--;
		return;
	}
	w->since = plx_now();
	plx_count(w, name, w->entered, w->since, bytes, joint);
	w->away--;
	if (w->since >= w->due) plx_show(w, w->since);
}

/* --- regions that the program names ---------------------------------------------------- */

/* plx_stays counts the time outside regions up to now, where that is not busy. */
static void plx_stays(plx_worker *w, int64_t now) {
	if (!w->outside && !w->depth && !w->lost && now > w->left) plx_count(w, plx_name("outside regions"), w->left, now, 0, 0);
	w->left = now;
}

static void plx_region_enter_below(plx_worker *w, uint32_t parent, uint32_t name, int64_t now) {
	uint32_t i;
	for (i = parent + 1; i < w->nodes; i++)
		if (w->tree[i].parent == parent && w->tree[i].name == name) break;
	if (i == PLX_NODES || w->depth == PLX_DEPTH || !name) {
		w->lost++;
		w->dropped++;
		return;
	}
	if (i == w->nodes) {
		w->tree[i].parent = parent;
		w->tree[i].name = name;
		w->nodes++;
	}
	w->open[w->depth].node = w->node;
	w->open[w->depth].waits = 0;
	w->open[w->depth++].begin = now;
	w->node = i;
}

static void plx_region_enter(plx_worker *w, uint32_t name, int64_t now) { plx_region_enter_below(w, w->node, name, now); }

static void plx_region_leave(plx_worker *w, int64_t now) {
	if (w->lost > 0) {
		w->lost--;
		return;
	}
	if (w->depth == 0) {
		w->dropped++;
		return;
	}
	w->depth--;
	PLX_EVENT(w, w->tree[w->node].name, w->open[w->depth].begin, now);
	w->idle -= w->open[w->depth].waits;
	w->tree[w->node].count++;
	w->tree[w->node].time += (uint64_t)(now - w->open[w->depth].begin);
	w->node = w->open[w->depth].node;
}

static void plx_start(int32_t rank, int32_t size);

void parallax_region_begin(const char *name);
void parallax_region_begin_as(const char *name, const char *role);
void parallax_wait_begin(const char *name);
void parallax_region_end(void);

/* plx_is_wait knows waits by their name, as the reader of the file does. */
static int plx_is_wait(const char *name) {
	static const char *const words[] = {"wait", "waiting", "waitall", "idle", "sleep", "sleeping", "barrier", "lock", "blocked", "sync", "synchronization"};
	static const char *const begins[] = {"wait for ", "waiting ", "mpi_", "nccl", "pthread_join", "pthread_mutex", "pthread_cond", "pthread_barrier"};
	size_t i;
	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcasecmp(name, words[i])) return 1;
	for (i = 0; i < sizeof begins / sizeof *begins; i++)
		if (!strncasecmp(name, begins[i], strlen(begins[i]))) return strncasecmp(name, "mpi_file_", 9) != 0;
	return 0;
}

static void plx_named_region(const char *name, int waits) {
	plx_worker *w;
	int64_t now;
	int worked, depth;
	if (!plx.on && !plx.wrote) plx_start(-1, -1);
	if (!plx.on || !(w = plx_self ? plx_self : plx_worker_new("thread", plx.outside == PLX_OUTSIDE_BUSY))) return;
	now = plx_now();
	worked = plx_works(w);
	depth = w->depth;
	w->changes++;
	__sync_synchronize();
	plx_stays(w, now);
	plx_region_enter(w, plx_name(name), now);
	if (waits && w->depth > depth) w->idle += w->open[depth].waits = 1;
	plx_turns(w, worked, now);
	__sync_synchronize();
	w->changes++;
}

/* The names that parallax.h and the Python module call. */
void parallax_region_begin(const char *name) { plx_named_region(name, plx_is_wait(name)); }

/* A role is told behind the name, as the reader of the file takes it apart. */
void parallax_region_begin_as(const char *name, const char *role) {
	static const char *const busy[] = {"compute", "io", "copy"};
	char both[64];
	size_t i;
	int waits = 1;
	for (i = 0; i < sizeof busy / sizeof *busy; i++)
		if (!strcmp(role, busy[i])) waits = 0;
	snprintf(both, sizeof both, "%.*s%c%s", (int)(sizeof both - 2 - strlen(role)), name, PLX_ROLE, role);
	plx_named_region(both, waits);
}
void parallax_wait_begin(const char *name) {
	char waits[64];
	snprintf(waits, sizeof waits, "wait for %s", name);
	plx_named_region(plx_is_wait(name) ? name : waits, 1);
}

void parallax_region_end(void) {
	plx_worker *w = plx_self;
	int64_t now;
	int worked;
	if (!plx.on || !w) return;
	now = plx_now();
	worked = plx_works(w);
	w->changes++;
	__sync_synchronize();
	plx_region_leave(w, now);
	plx_turns(w, worked, now);
	w->left = now;
	__sync_synchronize();
	w->changes++;
	if (now >= w->due) plx_show(w, now);
}

/* --- the file: every byte is described in Go's package recorder ------------------------ */

/* Bytes of a record; room is more than any can have. */
typedef struct {
	uint8_t *b;
	size_t n, room;
} plx_out;

static void plx_put(plx_out *o, int bytes, uint64_t x) {
	for (; bytes > 0 && o->n < o->room; bytes--, x >>= 8) o->b[o->n++] = (uint8_t)x;
}
static void plx_f64(plx_out *o, double x) { uint64_t u; memcpy(&u, &x, 8); plx_put(o, 8, u); }
static void plx_text(plx_out *o, const char *s) {
	for (plx_put(o, 2, strlen(s)); *s; s++) plx_put(o, 1, (uint8_t)*s);
}

/* plx_hole leaves room for a number that is known later. Other threads may go on while a
 * record is written: what is counted is what was written. */
static plx_out plx_hole(plx_out *o, int bytes) {
	plx_out hole = {o->b, o->n, o->room};
	plx_put(o, bytes, 0);
	return hole;
}

static void plx_put_windows(plx_out *o, plx_worker *w) {
	plx_out count = plx_hole(o, 4);
	uint32_t i, n = 0;
	for (i = 0; i < (uint32_t)w->windows; i++) {
		plx_sums s = w->window[i];
		double mean, m2, least;
		if (s.s0 <= 0) continue;
		mean = s.s1 / s.s0;
		m2 = s.s2 - mean * s.s1;
		least = s.s0 * s.s0 * s.s0 / 12; /* the spread of one interval */
		plx_put(o, 4, i);
		plx_f64(o, s.s0);
		plx_f64(o, (double)(s.origin - ((int64_t)i << w->shift)) + mean);
		plx_f64(o, m2 > least ? m2 : least);
		plx_f64(o, s.s3 - mean * (3 * s.s2 - 2 * mean * s.s1));
		n++;
	}
	plx_put(&count, 4, n);
}

static void plx_put_regions(plx_out *o, plx_worker *w) {
	uint32_t i, n = w->nodes;
	int k;
	plx_put(o, 4, n);
	for (i = 0; i < n; i++) {
		uint64_t count = w->tree[i].count, time = i ? w->tree[i].time : (uint64_t)((w->gone ? w->left : plx.ended) - w->watched);
		for (k = 0; k < w->depth; k++) /* still open: counted as far as they came */
			if ((k + 1 < w->depth ? w->open[k + 1].node : w->node) == i) {
				count++;
				time += (uint64_t)(plx.ended - w->open[k].begin);
			}
		plx_put(o, 4, w->tree[i].parent);
		plx_put(o, 4, w->tree[i].name);
		plx_put(o, 8, count);
		plx_put(o, 8, time);
	}
}

static void plx_put_calls(plx_out *o, plx_worker *w) {
	/* Clocks of ranks drift: entry times are put right by what they were off at both ends. */
	double drift = plx.ended > 0 ? (double)(plx.later - plx.offset) / (double)plx.ended : 0;
	plx_out count = plx_hole(o, 4);
	uint32_t i, n = 0;
	for (i = 0; i < PLX_CELLS; i++) {
		plx_cell *c = &w->cells[i];
		if (!c->name) continue;
		plx_put(o, 4, c->node);
		plx_put(o, 4, c->name);
		plx_put(o, 8, c->count);
		plx_put(o, 8, c->time);
		plx_put(o, 8, c->count ? c->least : 0);
		plx_put(o, 8, c->most);
		plx_f64(o, c->squares);
		plx_put(o, 8, c->bytes);
		plx_put(o, 8, c->joint);
		plx_f64(o, c->entries * (1 + drift));
		n++;
	}
	plx_put(&count, 4, n);
}

static void plx_put_messages(plx_out *o, plx_worker *w) {
	plx_out count = plx_hole(o, 4);
	uint32_t i, n = 0;
	for (i = 0; i < PLX_CLASSES * PLX_SIZES; i++) {
		uint32_t class = i / PLX_SIZES, size = i % PLX_SIZES;
		if (!w->messages[class][size]) continue;
		plx_put(o, 1, class);
		plx_put(o, 1, size);
		plx_put(o, 8, w->messages[class][size]);
		plx_put(o, 8, w->sent[class][size]);
		n++;
	}
	plx_put(&count, 4, n);
	count = plx_hole(o, 4);
	for (i = n = 0; i < PLX_PARTNERS; i++) {
		if (w->partners[i].rank < 0) continue;
		plx_put(o, 4, (uint32_t)w->partners[i].rank);
		plx_put(o, 8, w->partners[i].count);
		plx_put(o, 8, w->partners[i].bytes);
		n++;
	}
	plx_put(&count, 4, n);
	plx_put(o, 8, w->others);
	plx_put(o, 8, w->others_bytes);
}

/* plx_close ends what a thread had open at the end, in a copy of it: another thread may go on
 * while this is written. */
static void plx_close(plx_worker *w, const plx_worker *from) {
	size_t size = sizeof *w + (size_t)from->windows * sizeof *w->window;
	uint32_t changes;
	int tries;
	for (tries = 0; tries < 100000; tries++) {
		changes = from->changes;
		__sync_synchronize();
		memcpy(w, from, size);
		__sync_synchronize();
		if ((changes == from->changes && !(changes & 1)) || from == plx_self) break;
	}
	plx_cores_end(w);
	if (w->gone || w->outside) return;
	if (w->away && w->waiting) plx_count(w, w->waiting, w->entered, plx.ended, 0, 0);
	else plx_stays(w, plx.ended);
	if (plx_works(w)) plx_busy(w, w->since, plx.ended);
}

/* plx_put_cores ends a thread: all ones, and no number, if the system does not report them. */
static void plx_put_cores(plx_out *o, const plx_worker *w) {
	plx_put(o, 8, w->untold & PLX_NO_RAN ? UINT64_MAX : w->had.ran);
	plx_put(o, 8, w->untold & PLX_NO_WAITED ? UINT64_MAX : w->had.waited);
	plx_put(o, 4, w->number > 0 ? (uint32_t)w->number : 0);
}

/* plx_encode gives the record of this process, in memory of its own; none where there is no
 * memory. It calls nothing that a signal handler may not, but the bare system call. */
static plx_out plx_encode(void) {
	static const uint8_t magic[8] = {'P', 'L', 'X', 'M', 'O', 'M', 0, 4};
	static uint8_t used[PLX_NAMES];
	plx_out o = {0, 0, sizeof plx}, length;
	plx_worker *first = plx.workers, *w, *from; /* threads that begin now are not in it */
	uint32_t i, k, n = 0, names, crc = UINT32_MAX;
	size_t one = sizeof *w + (size_t)plx.windows * sizeof *w->window, at; /* no part is longer in the file */
	uint8_t *copies;
	for (w = first; w; w = w->next) n++;
	one = (one + 63) / 64 * 64;
	copies = mmap(0, n * one + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copies == MAP_FAILED) return (plx_out){0, 0, 0};
	for (from = first, at = 0; from; from = from->next, at += one) plx_close((plx_worker *)(copies + at), from);
	memset(used, 0, sizeof used);
	for (at = 0; at < n * one; at += one) {
		w = (plx_worker *)(copies + at);
		for (i = 0; i < w->nodes; i++) used[w->tree[i].name] = 1;
		for (i = 0; i < PLX_CELLS; i++) used[w->cells[i].name] = 1;
	}
	names = (uint32_t)plx.named;
	o.room += n * one;
	o.b = mmap(0, o.room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (o.b == MAP_FAILED) o.room = 0;
	for (i = 0; i < 8; i++) plx_put(&o, 1, magic[i]);
	plx_put(&o, 8, (uint64_t)(plx.epoch + plx.offset));
	plx_put(&o, 4, (uint32_t)plx.rank);
	length = plx_hole(&o, 8);
	plx_put(&o, 4, (uint32_t)plx.size);
	plx_text(&o, plx.program);
	plx_text(&o, plx.host);
	plx_put(&o, 4, (uint32_t)plx.process);
	plx_put(&o, 8, (uint64_t)(plx.later - plx.offset));
	plx_put(&o, 1, (uint64_t)(plx.aborted | (plx_thread_begins ? plx.outside << 2 : 0)));
	plx_put(&o, 4, names);
	for (i = 1; i <= names; i++) plx_text(&o, used[i] ? plx.names[i] : "");
	plx_put(&o, 4, n);
	for (at = 0; at < n * one; at += one) {
		w = (plx_worker *)(copies + at);
		plx_text(&o, w->name);
		plx_put(&o, 1, (uint64_t)w->shift);
		plx_put(&o, 8, (uint64_t)w->watched);
		plx_put(&o, 8, (uint64_t)plx.ended);
		plx_put(&o, 8, w->dropped);
		plx_put_windows(&o, w);
		plx_put_regions(&o, w);
		plx_put_calls(&o, w);
		plx_put_messages(&o, w);
		plx_put_cores(&o, w);
	}
	munmap(copies, n * one + 64);
	plx_put(&length, 8, o.n + sizeof crc);
	for (i = 0; i < o.n; i++)
		for (crc ^= o.b[i], k = 0; k < 8; k++) crc = crc & 1 ? 0xEDB88320u ^ crc >> 1 : crc >> 1;
	plx_put(&o, 4, ~crc);
	return o;
}

/* plx_wait_ends closes a wait, where a part below knows how. */
static void (*plx_wait_ends)(plx_worker *, int64_t);

/* plx_end closes what is open, once: the busy time of this thread, and waits of the others.
 * Whether another thread of MPI or OpenMP is busy or gone is not known; of threads that only
 * name regions plx_close knows. */
static void plx_end(void) {
	plx_worker *w = plx_self;
	if (plx.ended) return;
	plx.ended = plx_now();
	if (w && w->outside && plx_works(w)) plx_busy(w, w->since, plx.ended);
	for (w = plx.workers; w; w = w->next)
		if (w != plx_self && w->away && w->waiting && plx_wait_ends) plx_wait_ends(w, plx.ended);
	if (!plx.later) plx.later = plx.offset;
}

/* plx_put_file writes the file of this process; it appears when it is whole. */
static int plx_put_file(const char *suffix) {
	plx_out o = plx_encode();
	char part[1264], name[1200];
	size_t done = 0;
	ssize_t k = 0;
	int fd;
	snprintf(name, sizeof name, plx.rank < 0 ? "%s/run.moments" : "%s/rank-%06d.moments", plx.dir, plx.rank);
	snprintf(part, sizeof part, "%s%s", name, suffix);
	if ((fd = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0666)) < 0) {
		mkdir(plx.dir, 0777);
		fd = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	}
	for (; done < o.n && ((k = write(fd, o.b + done, o.n - done)) > 0 || (k < 0 && errno == EINTR)); done += k > 0 ? (size_t)k : 0) ;
	if (o.room) munmap(o.b, o.room);
	if (fd < 0) return 0;
	if (!close(fd) && o.n && done == o.n && !rename(part, name)) return 1;
	unlink(part);
	return 0;
}

/* plx_write writes the file for good, once. */
static void plx_write(void) {
	static const char say[] = "parallax recorder: cannot write what was recorded\n";
	int tries;
	/* A child that was forked has the memory of its parent, but is not the program recorded. */
	if (!plx.on || getpid() != plx.process || __sync_lock_test_and_set(&plx.wrote, 1)) return;
	/* Another thread may be writing what there is so far: it takes milliseconds. */
	for (tries = 0; plx.showing && plx.shows != plx_self && tries < 1000000; tries++) sched_yield();
	plx_end();
	plx.on = 0;
	if (!plx_put_file(".part") && write(2, say, sizeof say - 1) < 0) return;
}

/* plx_show writes the file as far as the program has come. The time is not the program's:
 * it counts as none of its busy time. What other threads do meanwhile may be in it by halves. */
static void plx_show(plx_worker *w, int64_t now) {
	int64_t later;
	w->due = plx.due; /* another thread may have written it */
	if (!plx.on || now < w->due || getpid() != plx.process || __sync_lock_test_and_set(&plx.showing, 1)) return;
	if (plx.wrote) { /* or is writing it for good */
		__sync_lock_release(&plx.showing);
		return;
	}
	plx.shows = w;
	later = plx.later;
	if (plx_works(w)) plx_busy(w, w->since, now);
	w->since = now;
	plx.ended = now;
	if (!later) plx.later = plx.offset;
	if (!plx.aborted) plx.aborted = 2; /* it runs on */
	plx_put_file(".now");
	if (plx.aborted == 2) plx.aborted = 0;
	plx.later = later;
	plx.ended = 0;
	w->since = w->left = plx_now();
	w->due = plx.due = w->since + plx.every;
	__sync_lock_release(&plx.showing);
}

/* Signals that end a program. Whoever had them before gets them after. */
static const int plx_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGXCPU};
enum { PLX_SIGNALS = sizeof plx_signals / sizeof *plx_signals, PLX_FAULTS = 5 };
static struct sigaction plx_before_us[PLX_SIGNALS];

static void plx_on_signal(int s) {
	int i;
	plx.aborted = 1;
	plx_write();
	for (i = 0; i < PLX_SIGNALS; i++)
		if (plx_signals[i] == s) sigaction(s, &plx_before_us[i], 0);
	raise(s);
}

/* plx_guard takes the signals: faults always, requests to end only where nobody has them. */
static void plx_guard(void) {
	struct sigaction ours, old;
	int i;
	memset(&ours, 0, sizeof ours);
	ours.sa_handler = plx_on_signal;
	for (i = 0; i < PLX_SIGNALS; i++) {
		if (sigaction(plx_signals[i], 0, &old) || old.sa_handler == plx_on_signal || old.sa_handler == SIG_IGN) continue;
		if (i >= PLX_FAULTS && old.sa_handler != SIG_DFL) continue;
		plx_before_us[i] = old;
		sigaction(plx_signals[i], &ours, 0);
	}
}

static void plx_at_exit(void) {
	if (plx.on && plx.rank >= 0) plx.aborted = 1; /* MPI_Finalize was not reached */
	plx_write();
}

/* plx_clocks reads both clocks at the same moment: the closest of some readings, since a
 * process may lose its core between two. */
static void plx_clocks(void) {
	int64_t best = INT64_MAX;
	int i;
	for (i = 0; i < 20; i++) {
		int64_t before = plx_read(CLOCK_MONOTONIC), real = plx_read(CLOCK_REALTIME), after = plx_read(CLOCK_MONOTONIC);
		if (after - before >= best) continue;
		best = after - before;
		plx.origin = before + best / 2;
		plx.epoch = real;
	}
}

/* plx_start begins recording in this process. */
static void plx_start(int32_t rank, int32_t size) {
	static int started;
	time_t real;
	const char *s;
	char when[32];
	ssize_t n;
	if (__sync_lock_test_and_set(&started, 1)) {
		while (!plx.on && !plx.wrote) sched_yield(); /* another thread is at it */
		return;
	}
	plx.process = getpid();
	plx_clocks();
	real = (time_t)(plx.epoch / 1000000000);
	plx.rank = rank;
	plx.size = size;
	s = getenv("PARALLAX_WINDOWS");
	plx.windows = s ? atoi(s) / 2 * 2 : 64; /* even, since they are put together by two */
	if (plx.windows < 8) plx.windows = 8;
	if (plx.windows > 4096) plx.windows = 4096;
	s = getenv("PARALLAX_OUTSIDE");
	plx.outside = s && !strcmp(s, "busy") ? PLX_OUTSIDE_BUSY : s && !strcmp(s, "none") ? 3 : 1;
	s = getenv("PARALLAX_EVERY");
	plx.every = plx.due = s && atof(s) > 0 ? (int64_t)(atof(s) * 1e9) : INT64_MAX;
	gethostname(plx.host, sizeof plx.host - 1);
	n = readlink("/proc/self/exe", plx.dir, sizeof plx.dir - 1);
	s = n > 0 ? strrchr(plx.dir, '/') : 0;
	snprintf(plx.program, sizeof plx.program, "%s", s ? s + 1 : "program");
	strftime(when, sizeof when, "%Y%m%d-%H%M%S", localtime(&real));
	s = getenv("PARALLAX_OUT");
	if (s && *s) snprintf(plx.dir, sizeof plx.dir, "%s", s);
	else snprintf(plx.dir, sizeof plx.dir, "parallax-%s-%s-%d", plx.program, when, (int)getpid());
	plx_guard();
	if (!plx_thread_begins) atexit(plx_at_exit); /* else the part below that knows threads does it later */
	plx.on = 1;
}
