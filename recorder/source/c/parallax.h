/* Name regions of a program for Parallax:
 *
 *   parallax_begin("solve");
 *   solve();
 *   parallax_end();
 *   parallax_wait("neighbours");
 *   spin();
 *   parallax_end();
 *
 * Regions nest, a thread each. Without a recorder in the program both do nothing and
 * nothing needs to be linked: the names are weak (GCC, Clang and compilers like them). */
#ifndef PARALLAX_H
#define PARALLAX_H

#ifdef __cplusplus
extern "C" {
#endif

extern void parallax_region_begin(const char *name) __attribute__((weak));
extern void parallax_region_begin_as(const char *name, const char *role) __attribute__((weak));
extern void parallax_wait_begin(const char *name) __attribute__((weak));
extern void parallax_region_end(void) __attribute__((weak));

static inline void parallax_begin(const char *name) {
	if (parallax_region_begin) parallax_region_begin(name);
}

/* A region with a role: compute, io and copy are busy; communication, synchronization, idle and overhead are not. */
static inline void parallax_begin_as(const char *name, const char *role) {
	if (parallax_region_begin_as) parallax_region_begin_as(name, role);
}

/* A region in which the thread waits for others: it is not busy there. */
static inline void parallax_wait(const char *name) {
	if (parallax_wait_begin) parallax_wait_begin(name);
}

static inline void parallax_end(void) {
	if (parallax_region_end) parallax_region_end();
}

#ifdef __cplusplus
}

/* A region as long as a variable lives. */
struct parallax_scope {
	explicit parallax_scope(const char *name) { parallax_begin(name); }
	~parallax_scope() { parallax_end(); }
	parallax_scope(const parallax_scope &) = delete;
	parallax_scope &operator=(const parallax_scope &) = delete;
};
#endif

#endif
