package trace

import "testing"

// The names are those that recorders write; nearly all of them occur in the
// traces the readers are tried on.
func TestRoleOfIsWhatTheNameSays(t *testing.T) {
	for _, group := range []struct {
		role  Role
		names [][2]string // name, category
	}{
		{RoleCommunication, [][2]string{
			{"MPI_Send", ""}, {"PMPI_Wait", "MPI_STATE"}, {"mpi_allreduce_", ""}, {"MPI_ISEND", ""}, {"MPI_Bcast()  ", "MPI"},
			{"MPI_Barrier", "USER"}, {"MPI_Comm_split", ""}, {"MPI_Iprobe", ""}, {"MPI_Initialized", ""}, {"MPI_Win_fence", ""},
			{"MPI Collective Sync", "MPI"}, {"shmem_put64", ""}, {"gaspi_notify_waitsome", ""},
			{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "kernel"},
			{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "Kernel"},
			{"void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)", "kernel"},
			{"nccl:all_reduce", "user_annotation"}, {"gloo:all_reduce", "user_annotation"}, {"nccl:all_to_all", ""},
			{"c10d::allreduce_", "cpu_op"}, {"record_param_comms", "cpu_op"}, {"_c10d_functional::wait_tensor", "cpu_op"},
			{"Group Communication", ""}, {"Wait/WaitAll", ""}, {"Immediate Send", ""}, {"Waiting a message", ""},
			{"SendCompleted", "Communication Thread State"}, {"Processing", "Communication Thread State"}, {"action_Irecv", ""},
			{"action_wait", ""},
			{"grads-reduce-scatter", "grads-reduce-scatter"}, {"grads-reduce-scatter", "kernel"}, {"all-reduce.3", "kernel"}, {"embedding-grads-all-reduce", ""}, {"params-all-gather", ""}, {"forward-recv", ""},
			{"backward-send", "backward-send"}, {"all-reduce.17", ""}, {"collective-permute-start.2", ""}, {"send-done.1", ""}, {"all-to-all", ""},
			{"All2All_Pooled_Wait", "cpu_op"}, {"autograd::engine::evaluate_function: All2All_Pooled_ReqBackward", "cpu_op"}, {"ALLREDUCE", ""},
			{"ompi_request_default_wait", "timer_sampling"}, {"opal_progress", ""}, {"ncclDevKernel_AllGather", "mtia_ccp_events"},
		}},
		{RoleIO, [][2]string{
			{"MPI_File_write_all", "MPI"}, {"mpi_file_open_", ""}, {"write", "POSIX"}, {"mmap", "POSIX"}, {"fopen64", "STDIO"}, {"__xstat", "POSIX"},
			{"fread", ""}, {"I/O", ""}, {"H5Dwrite", ""}, {"ADIOS write", "TAU_USER"}, {"syscall", ""}, {"pread64", ""},
			{"POSIX_Write", ""}, {"POSIX_Fsync", ""}, {"posix_fadvise", ""}, {"STDIO_Fread", ""}, {"MPIIO_Read", ""}, {"HDF5_Write", ""},
			{"fs.sync.open", "node,node.fs,node.fs.sync"}, {"EXT_NCD_READ_FIELD", "TAU_DEFAULT"}, {"__libc_read", ""}, {"__write_nocancel", ""}, {"read@plt", ""},
			{"<built-in method write of _io.TextIOWrapper object at 0x7f>", "python_function"},
		}},
		{RoleSynchronization, [][2]string{
			{"pthread_mutex_lock", ""}, {"pthread_cond_timedwait", "USER"}, {"pthread_join", ""}, {"!$omp implicit barrier @cg.c:12", ""},
			{"!$omp critical @cg.c:3", ""}, {"omp_set_lock", ""}, {"__kmpc_barrier", ""}, {"GOMP_barrier", ""}, {"OpenMP_Sync_Region_Barrier_Implicit", ""},
			{"cudaDeviceSynchronize", "cuda_runtime"}, {"cudaStreamWaitEvent", "Runtime"}, {"hipDeviceSynchronize", "cuda_runtime"},
			{"cuCtxSynchronize", ""}, {"cudaStreamSynchronize", ""}, {"clFinish", ""}, {"zeEventHostSynchronize", ""}, {"Stream Wait Event", "cuda_sync"}, {"Context Sync", "cuda_sync"},
			{"chan receive", ""}, {"sync.(*Cond).Wait", ""}, {"Synchronization", ""}, {"Waiting all tasks", "User Thread State"}, {"std::thread::join()", ""},
			{"omp_barrier", ""}, {"omp_taskwait", ""}, {"taskwait", ""}, {"omp implicit barrier", ""}, {"futex_wait", ""}, {"futex_wait_queue_me", ""}, {"__x64_sys_futex", ""},
			{"Waitall", ""}, {"Waitany", ""}, {"threading.py(359): wait", "python_function"}, {"lib/python3.10/threading.py(1089): join", "python_function"},
			{"$threading.py:359 wait", ""}, {"wait (threading.py:359)", ""}, {"<built-in method acquire of _thread.lock object at 0x7f>", "python_function"},
			{"torch/cuda/__init__.py(1152): synchronize", "python_function"}, {"<built-in function _cuda_synchronize>", "python_function"},
			{"<built-in method synchronize of torch.Event object at 0x7f3ab849d0f0>", "python_function"}, {"LocalDeviceState::WaitFor", ""},
			{"ComputeSemaphoreAcquire [capacity=32, value=32]", ""}, {"runtime.futex", ""}, {"__lll_lock_wait_private", ""},
		}},
		{RoleIdle, [][2]string{
			{"Idle", ""}, {"Sleeping", "Worker State"}, {"Sleeping", "Communication Thread State"}, {"Not created", ""}, {"COMPUTE IDLE", ""},
			{"Runnable", ""}, {"sleep", ""}, {"nanosleep", ""}, {"<built-in function sleep>", "python_function"}, {"OpenMP_Idle", ""},
			{"__GI___nanosleep", "timer_sampling"}, {"$time sleep", ""}, {"selectors.py(452): select", "python_function"}, {"__poll", ""},
		}},
		{RoleCopy, [][2]string{
			{"Memcpy HtoD (Pageable -> Device)", "gpu_memcpy"}, {"Memset (Device)", "gpu_memset"}, {"Memcpy DtoD (Device -> Device)", "Memcpy"},
			{"[CUDA memcpy HtoD]", ""}, {"FetchingInput", "Worker State"}, {"PushingOutput", "S"}, {"Memory transfer", ""}, {"memcpy", ""},
			{"hipMemcpyWithStream", "cuda_runtime"}, {"cudaMemcpy", ""},
		}},
		{RoleOverhead, [][2]string{
			{"MPI_Init", ""}, {"MPI_Init_thread", "MPI"}, {"MPI_Finalize()  ", "MPI"}, {"PMPI_Finalize", "MPI_STATE"}, {"mpi_init_", ""},
			{"cudaLaunchKernel", "cuda_runtime"}, {"cudaMemcpyAsync", "cuda_runtime"}, {"cudaMalloc", "Runtime"}, {"hipExtModuleLaunchKernel", "cuda_runtime"},
			{"cuLaunchKernel", "cuda_driver"}, {"cuMemcpyHtoDAsync_v2", ""}, {"INVALID", "cuda_runtime"}, {"Lazy Function Loading", "overhead"},
			{"Scheduling", "Worker State"}, {"Overhead", "Worker State"}, {"Callback", "S"}, {"Submitting task", "User Thread State"},
			{"Allocating", "Memory Node State"}, {"TRACE BUFFER FLUSH", ""}, {"EZTrace finalize", "USER"}, {"STEAL", ""},
			{"pthread_create", ""}, {"Scheduling and Fork/Join", ""}, {"GC mark assist", ""}, {"stop-the-world (GC sweep termination)", ""}, {"minor GC", "gc notification"},
		}},
		{RoleAnnotation, [][2]string{
			{"ProfilerStep#3", "user_annotation"}, {"ProfilerStep#3", ""}, {"Optimizer.step#SGD.step", "gpu_user_annotation"}, {"nccl:all_reduce", "gpu_user_annotation"},
			{"## forward ##", "user_annotation"}, {"PyTorch Profiler (0)", "Trace"}, {"epoch", "NVTX"},
			{"ProfilerStep#21", "Operator"}, {"ProfilerStep#21", "cpu_op"}, {"ProfilerStep#21", "gpu_user_annotation"},
		}},
		{RoleCompute, [][2]string{
			{"", ""}, {"main", ""}, {"computing", "MPI_STATE"}, {"Running", ""}, {"RUN", ""}, {"Working", "USER"}, {"dgemm", "Worker State"}, {"HPL_dgemm", ""},
			{"aten::mm", "cpu_op"}, {"aten::empty", "Operator"}, {"ampere_sgemm_128x64_nn", "kernel"}, {"cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "kernel"},
			{"torch.distributed.ddp.reducer::copy_bucket_to_grad", "cpu_op"}, {"void cub::DeviceScanKernel<int>(int)", ""}, {"cublasSgemm_v2", ""},
			{"!$omp parallel @cg.c:9", ""}, {"!$omp critical sblock @cg.c:3", ""}, {"cuda_solver", ""}, {"hipster", ""}, {".TAU application", "TAU_DEFAULT"},
			{"Executing", "Worker State"}, {"action_compute", ""}, {"nn.Module: Linear_0", "python_function"}, {"reader", ""}, {"writeback_cells", ""},
			{"aten::cat.out-dtype_Float-extraKey_2", "mtia_ccp_events"}, {"batch_matmul-dtype_Float", "mtia_ccp_events"}, {"PARALLEL", "mpi"},
			{"Compiling xla/service/all-reduce-combiner.cc", ""}, {"posix_memalign", ""}, {"<built-in method select of type object at 0x7f>", "python_function"},
			{"<built-in method join of str object at 0x55>", "python_function"}, {"copy.py(61): copy", "python_function"}, {"aten::scatter_", "cpu_op"},
			{"threading.py(1032): _bootstrap", "python_function"}, {"HPL_send", "compiler"}, {"mmpi_solver", ""}, {"compositor::main (app.py)", ""},
		}},
	} {
		for _, n := range group.names {
			if got := RoleOf(n[0], n[1]); got != group.role {
				t.Errorf("RoleOf(%q, %q) = %v, want %v", n[0], n[1], got, group.role)
			}
		}
	}
}

func TestRoleTablesHoldLowerCaseAndNoContradiction(t *testing.T) {
	seen := map[string]bool{}
	for _, words := range wordsByRole {
		for _, word := range words {
			if bareName(word) != word {
				t.Errorf("word %q can never match: its bare form is %q", word, bareName(word))
			}
			if seen[word] {
				t.Errorf("word %q is listed twice", word)
			}
			seen[word] = true
		}
	}
	for i, r := range roleRules {
		for _, earlier := range roleRules[:i] {
			if earlier.role != r.role && earlier.part == "" && len(earlier.prefix) <= len(r.prefix) && r.prefix[:len(earlier.prefix)] == earlier.prefix {
				t.Errorf("rule %q can never match: %q comes before it", r.prefix, earlier.prefix)
			}
		}
	}
}

func BenchmarkRoleOfUnknownName(b *testing.B) {
	for b.Loop() {
		RoleOf("HPL_pdupdateTT", "USER")
	}
}

func TestCallsThatWaitForAll(t *testing.T) {
	for name, want := range map[string]bool{"MPI_Barrier": true, "MPI_Allreduce(comm)": true, "ncclAllReduce": true, "all_to_all": true, "all-gather.7": true,
		"MPI_Iallreduce": false, "PMPI_Ibarrier": false, "MPI_Bcast": false, "MPI_Reduce": false, "MPI_Waitall": false, "MPI_Send": false} {
		if WaitsForAll(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
