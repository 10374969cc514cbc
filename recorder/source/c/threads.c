/* --- threads: what they wait for is not busy time ------------------------------------------ */

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/select.h>

/* plx_next finds the function that ours stands before. Condition variables have an old form
 * of the same name. */
static void *plx_next(const char *name) {
	void *next = 0;
#ifdef __GLIBC__
	next = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
	return next ? next : dlsym(RTLD_NEXT, name);
}

/* plx_waits begins a wait of a thread that has named a region; it gives 0 for all others, and
 * inside another wait. */
static plx_worker *plx_waits(uint32_t *number, const char *name) {
	plx_worker *w = plx_self;
	int worked;
	if (!w || !plx.on || w->away) return 0;
	if (!*number) *number = plx_name(name);
	w->entered = plx_now();
	worked = plx_works(w);
	w->changes++;
	__sync_synchronize();
	plx_stays(w, w->entered);
	if (worked) plx_busy(w, w->since, w->entered);
	w->waiting = *number;
	w->away = 1;
	__sync_synchronize();
	w->changes++;
	return w;
}

static void plx_waited(plx_worker *w) {
	if (!w || !w->away) return;
	w->changes++;
	__sync_synchronize();
	w->since = w->left = plx_now();
	plx_count(w, w->waiting, w->entered, w->since, 0, 0);
	w->away = 0;
	w->waiting = 0;
	__sync_synchronize();
	w->changes++;
	if (w->since >= w->due && !w->gone) plx_show(w, w->since);
}

/* A row of its own for work that moves between threads, or shares one: tasks of an event loop. A row that is not in use
 * waits. parallax_row_use puts the caller on another row, 0 for none, and gives the one it was on. */
void *parallax_row_new(const char *name);
void *parallax_row_use(void *row);

static void plx_name_row(plx_worker *w, const char *name) {
	snprintf(w->name, sizeof w->name, "%s", name);
	w->numbered = 0;
}

void *parallax_row_use(void *row) {
	static uint32_t number;
	plx_worker *old = plx_self;
	if (old == row) return old;
	plx_waits(&number, "wait for the event loop");
	plx_self = row;
	plx_waited(row);
	return old;
}

void *parallax_row_new(const char *name) {
	plx_worker *old = plx_self, *w;
	if (!plx.on && !plx.wrote) plx_start(-1, -1);
	if (!plx.on || !(w = plx_worker_new("task", plx.outside == PLX_OUTSIDE_BUSY))) return 0;
	plx_name_row(w, name);
	w->untold = PLX_NO_RAN | PLX_NO_WAITED;
	if (old && plx_thread_begins) plx_thread_begins(old); /* what ends with the thread */
	parallax_row_use(old);
	return w;
}

/* The name of the row of a thread that has named a region. */
void parallax_name_thread(const char *name);
void parallax_name_thread(const char *name) {
	if (plx_self) plx_name_row(plx_self, name);
}

/* PLX_WAIT is a function that stands before the next of its name. With try it is counted only
 * where it has to wait. */
#define PLX_WAIT_IF(type, symbol, params, args, try) \
	type symbol params; \
	type symbol params { \
		static type (*next) params; \
		static uint32_t number; \
		plx_worker *w; \
		type result; \
		try; \
		if (!next) *(void **)&next = plx_next(#symbol); \
		w = plx_waits(&number, #symbol); \
		result = next args; \
		plx_waited(w); \
		return result; \
	}
#define PLX_WAIT(type, symbol, params, args) PLX_WAIT_IF(type, symbol, params, args, )

/* Memory of its own may lock while the next function is looked for: trying needs none. */
PLX_WAIT_IF(int, pthread_mutex_lock, (pthread_mutex_t *m), (m), if ((result = pthread_mutex_trylock(m)) != EBUSY) return result)
PLX_WAIT_IF(int, pthread_rwlock_rdlock, (pthread_rwlock_t *m), (m), if ((result = pthread_rwlock_tryrdlock(m)) != EBUSY) return result)
PLX_WAIT_IF(int, pthread_rwlock_wrlock, (pthread_rwlock_t *m), (m), if ((result = pthread_rwlock_trywrlock(m)) != EBUSY) return result)
PLX_WAIT_IF(int, sem_wait, (sem_t *s), (s), if (!sem_trywait(s)) return 0)
PLX_WAIT(int, sem_timedwait, (sem_t *restrict s, const struct timespec *restrict t), (s, t))
PLX_WAIT(int, pthread_mutex_timedlock, (pthread_mutex_t *restrict m, const struct timespec *restrict t), (m, t))
PLX_WAIT(int, pthread_cond_wait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m), (c, m))
PLX_WAIT(int, pthread_cond_timedwait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict t), (c, m, t))
PLX_WAIT(int, pthread_barrier_wait, (pthread_barrier_t *b), (b))
PLX_WAIT(int, pthread_join, (pthread_t t, void **r), (t, r))
PLX_WAIT(unsigned, sleep, (unsigned s), (s))
PLX_WAIT(int, usleep, (useconds_t s), (s))
PLX_WAIT(int, nanosleep, (const struct timespec *t, struct timespec *rest), (t, rest))
PLX_WAIT(int, clock_nanosleep, (clockid_t c, int flags, const struct timespec *t, struct timespec *rest), (c, flags, t, rest))
PLX_WAIT(int, poll, (struct pollfd *f, nfds_t n, int t), (f, n, t))
PLX_WAIT(int, ppoll, (struct pollfd *f, nfds_t n, const struct timespec *t, const sigset_t *s), (f, n, t, s))
PLX_WAIT(int, select, (int n, fd_set *restrict r, fd_set *restrict w_, fd_set *restrict e, struct timeval *restrict t), (n, r, w_, e, t))
PLX_WAIT(int, epoll_wait, (int e, struct epoll_event *v, int n, int t), (e, v, n, t))
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 30)
PLX_WAIT(int, sem_clockwait, (sem_t *restrict s, clockid_t c, const struct timespec *restrict t), (s, c, t))
PLX_WAIT(int, pthread_cond_clockwait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t k, const struct timespec *restrict t), (c, m, k, t))
#endif
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 28)
#include <threads.h>
PLX_WAIT(int, thrd_join, (thrd_t t, int *r), (t, r))
PLX_WAIT(int, thrd_sleep, (const struct timespec *t, struct timespec *rest), (t, rest))
PLX_WAIT_IF(int, mtx_lock, (mtx_t *m), (m), if ((result = mtx_trylock(m)) != thrd_busy) return result)
PLX_WAIT(int, cnd_wait, (cnd_t *c, mtx_t *m), (c, m))
#endif

/* Waits that C++ and Rust make themselves. */
long syscall(long number, ...) {
	enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, COMMAND = 127 };
	static long (*next)(long, ...);
	static uint32_t futex;
	plx_worker *w = 0;
	long a[6], result;
	int i;
	va_list list;
	va_start(list, number);
	for (i = 0; i < 6; i++) a[i] = va_arg(list, long);
	va_end(list);
	if (!next) *(void **)&next = plx_next("syscall");
#ifdef SYS_futex
	i = (int)a[1] & COMMAND;
	if (number == SYS_futex && (i == WAIT || i == LOCK_PI || i == WAIT_BITSET)) w = plx_waits(&futex, "futex");
#endif
	result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	plx_waited(w);
	return result;
}

/* --- ends of threads and of the process ------------------------------------------------------ */

static pthread_key_t plx_key;
static pid_t plx_begins; /* the process that begins threads */

/* plx_thread_ends closes what a thread has open when it ends. */
static void plx_thread_ends(void *worker) {
	plx_worker *w = worker;
	int64_t now = plx_now();
	int worked = plx_works(w);
	if (!plx.on) return;
	plx_waited(w); /* it was cancelled in a wait */
	w->changes++;
	__sync_synchronize();
	if (worked) plx_busy(w, w->since, now);
	plx_stays(w, now);
	for (w->lost = 0; w->depth > 0;) plx_region_leave(w, now);
	plx_cores_end(w);
	w->gone = 1;
	__sync_synchronize();
	w->changes++;
}

static void plx_tell_end(plx_worker *w) { pthread_setspecific(plx_key, w); }

/* Where time outside of regions is busy, threads are recorded from their begin on, whether they name regions or not. */
__attribute__((constructor)) static void plx_load(void) {
	if (!pthread_key_create(&plx_key, plx_thread_ends)) plx_thread_begins = plx_tell_end;
	if (getenv("PARALLAX_OUTSIDE") && !strcmp(getenv("PARALLAX_OUTSIDE"), "busy")) {
		plx_start(-1, -1);
		if (plx.on) plx_worker_new("thread", 1);
	}
}

typedef struct {
	void *(*begin)(void *);
	void *argument;
} plx_routine;

static void *plx_thread(void *given) {
	plx_routine r = *(plx_routine *)given;
	free(given);
	if (plx.on && !plx_self) plx_worker_new("thread", 1);
	return r.begin(r.argument);
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*begin)(void *), void *argument) {
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	plx_routine *r = 0;
	int failed;
	if (!next) *(void **)&next = plx_next("pthread_create");
	plx_begins = getpid();
	if (plx.on && plx.outside == PLX_OUTSIDE_BUSY && (r = malloc(sizeof *r))) *r = (plx_routine){begin, argument};
	failed = r ? next(t, a, plx_thread, r) : next(t, a, begin, argument);
	if (failed) free(r);
	return failed;
}

/* Regions of handlers at the exit and of destructors are in the file: it is written after them. */
__attribute__((destructor)) static void plx_unload(void) {
	static const char say[] = "parallax recorder: no thread named a region, so nothing is recorded; PARALLAX_OUTSIDE=busy records all threads\n";
	plx_at_exit();
	if (!plx.workers && plx_begins == getpid() && write(2, say, sizeof say - 1) < 0) return;
}

/* PLX_EXIT writes the file before a process that ends without all that. */
#define PLX_EXIT(symbol) \
	void symbol(int status) { \
		void (*next)(int); \
		plx_at_exit(); \
		*(void **)&next = plx_next(#symbol); \
		next(status); \
		__builtin_unreachable(); \
	}
PLX_EXIT(_exit)
PLX_EXIT(_Exit)
PLX_EXIT(quick_exit)
