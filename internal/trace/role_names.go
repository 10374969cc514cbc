package trace

// wordsByRole are whole names, bare and in lower case: the states of runtimes,
// simulators and recorders.
var wordsByRole = [RoleCount][]string{
	RoleCompute: {
		"computing", "compute", "executing", "running", "run", "working", "outside mpi", "action_compute", "smpi_execute",
		"parallel", // the region that SST/macro puts around a whole rank
	},
	RoleCommunication: {
		"waiting a message", "blocking send", "immediate send", "immediate receive", "send receive", "group communication",
		"test/probe", "wait/waitall", "one-sided op", "remote memory access", "startup latency", "waiting links", "rtt",
		"sendsubmitted", "sendcompleted", "receivesubmitted", "receivecompleted", "recievesubmitted", "recievecompleted",
		"usertesting", "userwaiting", "polling",
		"testing detached", "mpi test",
		"allreduce", "all_reduce", "allgather", "all_gather", "alltoall", "all_to_all", "reduce_scatter", "reducescatter", "sendrecv", "send_recv",
	},
	RoleSynchronization: {
		"synchronization", "blocked", "distributed locking", "atomic memory operation", "memory ordering operation",
		"waiting", "wait", "waiting all tasks", "barrier", "lock", "futex", "cuda_sync",
		"waitall", "waitany", "waitsome", "wait_all", "taskwait", "task wait", "implicit barrier",
		"runtime.futex", "runtime.futexsleep", "runtime.notesleep", "runtime.semasleep",
		// What a goroutine waits for.
		"chan send", "chan receive", "select", "sync", "sync.mutex", "wait until gc ends", "wait for debug call",
		"throttling task submission",
	},
	RoleIdle: {
		"idle", "<idle>", "sleeping", "sleep", "usleep", "nanosleep", "clock_nanosleep", "thrd_sleep", "time.sleep", "sched_yield",
		"not created", "runnable", "forever", "network", "system goroutine wait", "compute idle", "parked", "stopped", "nothing",
		"epoll_wait", "epoll_pwait", "outside regions", "poll", "ppoll", "pselect",
		"runtime.usleep", "runtime.epollwait", "runtime.netpoll",
		"gc background sweeper wait", "gc mark assist wait for work",
	},
	RoleIO: {
		"i/o", "syscall", "open", "open64", "openat", "close", "read", "write", "pread", "pread64", "pwrite", "pwrite64", "readv", "writev",
		"fopen", "fopen64", "fclose", "fread", "fwrite", "fflush", "fseek", "fprintf", "fputs", "fgets", "fsync", "fdatasync", "lseek", "lseek64",
		"creat", "opendir", "readdir", "closedir", "unlink", "ftruncate", "__xstat", "__fxstat", "__lxstat", "stat", "fstat", "lstat",
	},
	RoleCopy: {
		"fetchinginput", "pushingoutput", "drivercopy", "drivercopyasync", "writingback", "memory transfer", "data copy", "memmove",
		"copyhosttodevice", "copydevicetohost", "copydevicetodevice",
		"writingbackasync",
	},
	RoleOverhead: {
		"overhead", "initializing", "deinitializing", "callback", "scheduling", "progressing", "unpartitioning", "partitioning", "hypervisor",
		"submitting task", "building task", "decoding task for mpi", "preparing task for mpi", "post-processing task for mpi",
		"allocating", "allocatingreuse", "freeing", "reclaiming", "allocating memory", "freeing memory",
		"scheduling and fork/join", "tracing disabled", "profiling", "on-line analysis", "others",
		"measurement off", "trace buffer flush", "eztrace finalize", "lazy function loading", "steal", "packing", "unpacking",
		"minorgc", "majorgc", "minor gc", "major gc", "mpi_init", "mpi_init_thread", "mpi_finalize", "pmpi_init", "pmpi_init_thread",
		"pmpi_finalize", "shmem_init", "shmem_finalize", "gaspi_proc_init", "gaspi_proc_term",
		"pthread_create", "pthread_exit", "action_init", "action_finalize",
		"driverrun",
	},
	RoleAnnotation: {"pytorch profiler"},
}

// roleWords is wordsByRole the other way round.
var roleWords = func() map[string]Role {
	words := map[string]Role{}
	for role, names := range wordsByRole {
		for _, n := range names {
			words[n] = Role(role)
		}
	}
	return words
}()

// roleRules are beginnings of names in lower case. Order matters: the first that
// matches decides, so the narrow ones come before the wide.
var roleRules = append([]roleRule{
	// Every MPI call is communication, as product and papers count it, even a
	// barrier: it is a collective like the others. Files and MPI_Init are not.
	{"mpi_file_", "", RoleIO},
	{"pmpi_file_", "", RoleIO},
	{"mpi_", "", RoleCommunication},
	{"pmpi_", "", RoleCommunication},
	{"mpi collective", "", RoleCommunication}, // TAU's "MPI Collective Sync"
	{"shmem_", "", RoleCommunication},
	{"pshmem_", "", RoleCommunication},
	{"shmemx_", "", RoleCommunication},
	{"nvshmem", "", RoleCommunication},
	{"rocshmem", "", RoleCommunication},
	{"roc_shmem", "", RoleCommunication},
	{"gaspi_", "", RoleCommunication},
	{"pgaspi_", "", RoleCommunication},
	{"gasnet", "", RoleCommunication},
	{"upcxx::", "", RoleCommunication},
	{"ucp_", "", RoleCommunication},
	{"nccl", "", RoleCommunication},
	{"void nccl", "", RoleCommunication},
	{"rccl", "", RoleCommunication},
	{"msccl", "", RoleCommunication},
	// The insides of Open MPI and MPICH, as samplers meet them.
	{"ompi_mpi_init", "", RoleOverhead},
	{"ompi_mpi_finalize", "", RoleOverhead},
	{"ompi_coll_", "", RoleCommunication},
	{"ompi_request_", "", RoleCommunication},
	{"ompi_sync_wait", "", RoleCommunication},
	{"opal_progress", "", RoleCommunication},
	{"mca_pml_base_progress", "", RoleCommunication},
	{"mca_pml_ob1_", "", RoleCommunication},
	{"mca_btl_", "", RoleCommunication},
	{"mpidi_", "", RoleCommunication},
	{"mpir_", "", RoleCommunication},
	{"uct_", "", RoleCommunication},
	{"psm2_", "", RoleCommunication},
	{"smpi_replay", "", RoleOverhead},
	{"action_", "", RoleCommunication}, // SimGrid's replay of MPI actions

	{"!$omp critical sblock", "", RoleCompute},
	{"!$omp ordered sblock", "", RoleCompute},
	{"!$omp ", "barrier", RoleSynchronization},
	{"!$omp ", "critical", RoleSynchronization},
	{"!$omp ", "ordered", RoleSynchronization},
	{"!$omp ", "taskwait", RoleSynchronization},
	{"!$omp ", "atomic", RoleSynchronization},
	{"!$omp ", "flush", RoleSynchronization},
	{"!$omp create task", "", RoleOverhead},
	{"omp_", "barrier", RoleSynchronization},
	{"omp_", "taskwait", RoleSynchronization},
	{"omp_", "taskgroup", RoleSynchronization},
	{"omp_", "critical", RoleSynchronization},
	{"omp ", "barrier", RoleSynchronization},
	{"omp ", "taskwait", RoleSynchronization},
	{"omp ", "critical", RoleSynchronization},
	{"openmp", "idle", RoleIdle},
	{"openmp", "barrier", RoleSynchronization},
	{"openmp", "sync", RoleSynchronization},
	{"openmp", "critical", RoleSynchronization},
	{"openmp", "lock", RoleSynchronization},
	{"openmp", "taskwait", RoleSynchronization},
	{"omp_", "lock", RoleSynchronization},
	{"ompt_", "barrier", RoleSynchronization},
	{"ompt_", "wait", RoleSynchronization},
	{"__kmpc_", "barrier", RoleSynchronization},
	{"__kmpc_", "critical", RoleSynchronization},
	{"__kmpc_", "taskwait", RoleSynchronization},
	{"__kmp_", "barrier", RoleSynchronization},
	{"__kmp_", "wait", RoleSynchronization},
	{"__kmp_fork_barrier", "", RoleSynchronization},
	{"gomp_", "barrier", RoleSynchronization},
	{"gomp_", "critical", RoleSynchronization},
	{"gomp_taskwait", "", RoleSynchronization},
	{"gomp_team_end", "", RoleSynchronization},

	{"pthread_mutex", "", RoleSynchronization},
	{"pthread_cond", "", RoleSynchronization},
	{"pthread_rwlock", "", RoleSynchronization},
	{"pthread_spin", "", RoleSynchronization},
	{"pthread_barrier", "", RoleSynchronization},
	{"pthread_join", "", RoleSynchronization},
	{"futex_", "", RoleSynchronization},
	{"do_futex", "", RoleSynchronization},
	{"sys_futex", "", RoleSynchronization},
	{"__x64_sys_futex", "", RoleSynchronization},
	{"__arm64_sys_futex", "", RoleSynchronization},
	{"__lll_lock_wait", "", RoleSynchronization},
	{"localdevicestate::waitfor", "", RoleSynchronization}, // XLA
	{"computesemaphoreacquire", "", RoleSynchronization},
	{"sem_wait", "", RoleSynchronization},
	{"sem_timedwait", "", RoleSynchronization},
	{"sem_clockwait", "", RoleSynchronization},
	{"thrd_join", "", RoleSynchronization},
	{"mtx_lock", "", RoleSynchronization},
	{"cnd_wait", "", RoleSynchronization},
	{"sem_post", "", RoleSynchronization},
	{"std::mutex::", "", RoleSynchronization},
	{"std::condition_variable::", "", RoleSynchronization},
	{"std::thread::join", "", RoleSynchronization},
	{"std::this_thread::sleep", "", RoleIdle},
	{"sync.(*", "", RoleSynchronization},
	{"acc_wait", "", RoleSynchronization},
	{"waiting ", "", RoleSynchronization},
	{"wait for ", "", RoleSynchronization},

	{"memcpy", "", RoleCopy},
	{"memset", "", RoleCopy},
	{"[cuda mem", "", RoleCopy},
	{"cuda memcpy", "", RoleCopy},
	{"cuda memset", "", RoleCopy},
	{"memory copy", "", RoleCopy},

	{"gc ", "", RoleOverhead},
	{"stop-the-world", "", RoleOverhead},
	{"v8.gc", "", RoleOverhead},
	{"h5", "", RoleIO},
	// As Darshan and tracers of its kind name calls: POSIX_Write. Memory, threads
	// and processes of POSIX are no input or output.
	{"posix_memalign", "", RoleCompute},
	{"posix_spawn", "", RoleOverhead},
	{"posix_mem", "", RoleOverhead},
	{"posix_madvise", "", RoleOverhead},
	{"posix_typed_mem", "", RoleOverhead},
	{"posix_trace", "", RoleOverhead},
	{"posix_", "", RoleIO},
	{"stdio_", "", RoleIO},
	{"mpiio_", "", RoleIO},
	{"hdf5_", "", RoleIO},
	{"pnetcdf_", "", RoleIO},
	{"x_posix", "", RoleIO},
	{"x_mpiio", "", RoleIO},
	{"ext_ncd_", "", RoleIO}, // WRF's layer over NetCDF
	{"vfs_", "", RoleIO},
	{"ncmpi_", "", RoleIO},
	{"nc_put", "", RoleIO},
	{"nc_get", "", RoleIO},
	{"adios", "", RoleIO},
}, collectiveOperators...)
