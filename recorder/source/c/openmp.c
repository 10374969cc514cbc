/* --- OpenMP: a tool by OMPT, the interface of OpenMP 5.0 --------------------------------- */

#include <omp-tools.h>

static uint32_t plx_omp_barrier, plx_omp_implicit, plx_omp_taskwait, plx_omp_taskgroup, plx_omp_idle, plx_omp_lock;

/* When the last parallel region ended: what a thread waited for after it was not the barrier. */
static volatile int64_t plx_omp_ended;

/* plx_place names code by its function, or by file and offset, which addr2line knows. */
static uint32_t plx_place(const char *kind, const void *code) {
	static __thread struct { const void *code; uint32_t name; } last[64];
	unsigned slot = (unsigned)((uintptr_t)code >> 4 & 63);
	Dl_info info;
	char name[64];
	if (last[slot].code == code && last[slot].name) return last[slot].name;
	if (code && dladdr(code, &info) && info.dli_fname) {
		const char *file = strrchr(info.dli_fname, '/');
		file = file ? file + 1 : info.dli_fname;
		if (info.dli_sname) snprintf(name, sizeof name, "%s %s+0x%zx", kind, info.dli_sname, (size_t)((const char *)code - (const char *)info.dli_saddr));
		else snprintf(name, sizeof name, "%s %s+0x%zx", kind, file, (size_t)((const char *)code - (const char *)info.dli_fbase));
	} else snprintf(name, sizeof name, "%s", kind);
	last[slot].code = code;
	return last[slot].name = plx_name(name);
}

static void plx_omp_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel, unsigned threads, int flags, const void *code) {
	plx_worker *w = plx_worker_get();
	(void)task, (void)frame, (void)threads, (void)flags;
	parallel->value = plx_place("parallel", code);
	if (w) plx_region_enter(w, (uint32_t)parallel->value, plx_now());
}

static void plx_omp_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code) {
	plx_worker *w = plx_worker_get();
	int64_t now = plx_now();
	(void)parallel, (void)task, (void)flags, (void)code;
	plx_omp_ended = now;
	if (!w) return;
	plx_region_leave(w, now);
	if (now >= w->due) plx_show(w, now);
}

/* What is kept of a task: whether an implicit one was entered, the name of an explicit one,
 * and what it waited for when another was run in its place. */
enum { PLX_TASK_ENTERED = 1, PLX_TASK_NAME = 2, PLX_TASK_WAITING = 32 };

static uint32_t plx_task_name(ompt_data_t *t) { return t ? (uint32_t)(t->value >> PLX_TASK_NAME & 0xfffffff) : 0; }

static plx_worker *plx_omp_worker(void) { return !plx.on ? 0 : plx_self ? plx_self : plx_worker_new("OpenMP thread", 1); }

/* Threads of a team other than the first are in the region while their implicit task runs. */
static void plx_omp_implicit_task(ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task, unsigned threads, unsigned index, int flags) {
	plx_worker *w = plx_omp_worker();
	(void)threads;
	if (!w || flags & ompt_task_initial) return;
	if (end == ompt_scope_begin && index > 0) {
		plx_region_enter(w, parallel ? (uint32_t)parallel->value : 0, plx_now());
		task->value = PLX_TASK_ENTERED;
	}
	if (end == ompt_scope_begin) w->base = w->node;
	else if (task->value & PLX_TASK_ENTERED) plx_region_leave(w, w->depth && w->open[w->depth - 1].begin < plx_omp_ended ? plx_omp_ended : plx_now());
}

/* plx_omp_waited counts a wait. Of what a thread waited at the end of a region, the time after
 * the region's end was idle, not the barrier. */
static void plx_omp_waited(plx_worker *w, int64_t now) {
	int64_t ended = plx_omp_ended;
	if (w->waiting == plx_omp_implicit && ended > w->entered && ended < now) {
		plx_count(w, w->waiting, w->entered, ended, 0, 0);
		plx_count(w, plx_omp_idle, ended, now, 0, 0);
	} else plx_count(w, w->waiting, w->entered, now, 0, 0);
	w->since = now;
}

static void plx_omp_wait_begin(plx_worker *w, uint32_t name) {
	if (plx_enter()) w->waiting = name;
}

static void plx_omp_wait_end(plx_worker *w) {
	if (w->away == 1) plx_omp_waited(w, plx_now());
	if (w->away > 0) w->away--;
	if (w->away == 0) w->waiting = 0;
}

static void plx_omp_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task, const void *code) {
	plx_worker *w = plx_omp_worker();
	uint32_t name = kind == ompt_sync_region_barrier_explicit ? plx_omp_barrier : kind == ompt_sync_region_taskwait ? plx_omp_taskwait
		: kind == ompt_sync_region_taskgroup ? plx_omp_taskgroup : kind == ompt_sync_region_reduction ? 0 : plx_omp_implicit;
	(void)parallel, (void)task, (void)code;
	if (!w || !name) return;
	if (end == ompt_scope_begin) plx_omp_wait_begin(w, name);
	else if (end == ompt_scope_end) plx_omp_wait_end(w);
}

static void plx_omp_mutex_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id, const void *code) {
	plx_worker *w = plx_omp_worker();
	(void)kind, (void)hint, (void)impl, (void)id, (void)code;
	if (w) plx_omp_wait_begin(w, plx_omp_lock);
}

static void plx_omp_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *code) {
	plx_worker *w = plx_omp_worker();
	(void)kind, (void)id, (void)code;
	if (w) plx_omp_wait_end(w);
}

/* Loops, sections and singles, where the runtime tells of them. */
static void plx_omp_work(ompt_work_t kind, ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task, uint64_t count, const void *code) {
	plx_worker *w = plx_worker_get();
	(void)parallel, (void)task, (void)count;
	if (!w || kind == ompt_work_single_other) return;
	if (end == ompt_scope_begin) plx_region_enter(w, plx_place(kind == ompt_work_sections ? "sections" : kind == ompt_work_single_executor ? "single" : "loop", code), plx_now());
	else if (end == ompt_scope_end) plx_region_leave(w, plx_now());
}

/* Explicit tasks: the thread that runs one is in its region, below the parallel one. */
static void plx_omp_task_create(ompt_data_t *from, const ompt_frame_t *frame, ompt_data_t *task, int flags, int dependences, const void *code) {
	(void)from, (void)frame, (void)dependences;
	if (flags & ompt_task_explicit) task->value = (uint64_t)plx_place("task", code) << PLX_TASK_NAME;
}

/* A thread goes from one task to another, often in the middle of a wait: the wait is counted
 * so far, and goes on when its task does. */
static void plx_omp_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next) {
	plx_worker *w = plx_omp_worker();
	int64_t now;
	if (!w || w->away > 1) return;
	now = plx_now();
	if (w->away) {
		plx_omp_waited(w, now);
		if (prior) prior->value |= (uint64_t)w->waiting << PLX_TASK_WAITING;
	} else if (plx_works(w)) plx_busy(w, w->since, now);
	w->since = now;
	w->away = 0;
	w->waiting = 0;
	if (plx_task_name(prior)) {
		uint64_t *count = &w->tree[w->node].count, before = *count;
		plx_region_leave(w, now);
		if (status != ompt_task_complete && status != ompt_task_detach) *count = before;
	}
	if (plx_task_name(next)) plx_region_enter_below(w, w->base, plx_task_name(next), now);
	if (next && next->value >> PLX_TASK_WAITING) {
		w->waiting = (uint32_t)(next->value >> PLX_TASK_WAITING);
		next->value &= UINT32_MAX;
		w->entered = now;
		w->away = 1;
	}
}

static int plx_omp_begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data) {
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
	(void)device, (void)data;
	plx_start(-1, -1);
	plx_omp_barrier = plx_name("OpenMP barrier");
	plx_omp_implicit = plx_name("OpenMP implicit barrier");
	plx_omp_taskwait = plx_name("OpenMP taskwait");
	plx_omp_taskgroup = plx_name("OpenMP taskgroup wait");
	plx_omp_lock = plx_name("OpenMP lock wait");
	plx_omp_idle = plx_name("OpenMP idle");
	plx_wait_ends = plx_omp_waited;
	set(ompt_callback_parallel_begin, (ompt_callback_t)plx_omp_parallel_begin);
	set(ompt_callback_parallel_end, (ompt_callback_t)plx_omp_parallel_end);
	set(ompt_callback_implicit_task, (ompt_callback_t)plx_omp_implicit_task);
	set(ompt_callback_sync_region_wait, (ompt_callback_t)plx_omp_wait);
	set(ompt_callback_mutex_acquire, (ompt_callback_t)plx_omp_mutex_acquire);
	set(ompt_callback_mutex_acquired, (ompt_callback_t)plx_omp_mutex_acquired);
	set(ompt_callback_work, (ompt_callback_t)plx_omp_work);
	set(ompt_callback_task_create, (ompt_callback_t)plx_omp_task_create);
	set(ompt_callback_task_schedule, (ompt_callback_t)plx_omp_task_schedule);
	plx_worker_get();
	return 1;
}

static void plx_omp_finish(ompt_data_t *data) {
	(void)data;
	if (plx.rank < 0) plx_write(); /* with MPI, MPI_Finalize writes */
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
	static ompt_start_tool_result_t result = {plx_omp_begin, plx_omp_finish, {0}};
	(void)version, (void)runtime;
	return &result;
}
