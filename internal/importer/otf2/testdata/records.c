/* Writes a small archive that holds every kind of record which the reader gives a
   meaning to, through the OTF2 library (3.0.2):
     cc -o records records.c -lopen-trace-format2 && ./records OUT
   Two processes on two nodes with a thread team each, a GPU stream, a recorder of
   metrics and a thread that is sampled. The clock of process 1 is 5,000 ticks behind
   at the start and 6,000 at the end; its numbers of strings, regions and
   communicators are its own and mapped. A tick is half a nanosecond. */
#include <otf2/otf2.h>
#include <stdint.h>
#include <stdio.h>

static OTF2_FlushType pre(void *u, OTF2_FileType f, OTF2_LocationRef l, void *c, bool fin) { return OTF2_FLUSH; }
static OTF2_TimeStamp post(void *u, OTF2_FileType f, OTF2_LocationRef l) { return 0; }
static OTF2_FlushCallbacks flush = { pre, post };

enum { S_EMPTY, S_CLUSTER, S_MACHINE, S_NODE, S_N0, S_N1, S_P0, S_P1, S_MASTER, S_WORKER, S_GPU, S_METRICS, S_SAMPLED, S_STREAM,
  S_MAIN, S_SEND, S_RECV, S_IRECV, S_WAIT, S_BARRIER, S_PARALLEL, S_IBARRIER, S_TASK, S_CREATE, S_FOPEN, S_KERNEL, S_PUT, S_IALL,
  S_WORLD, S_TEAM0, S_TEAM1, S_WIN, S_FLOPS, S_UNIT, S_POWER, S_WATT, S_PARAM, S_COLOUR, S_RED, S_FILE, S_HANDLE, S_MPI, S_ITER,
  S_GRID, S_X, S_Y, S_PROG, S_ARG, S_PROP, S_SOURCE, S_LEAF, S_TIMER, S_PTHREADS, S_SIZE, S_POSIX, S_LAST };
static const char *text[] = { "", "cluster0", "machine", "node", "n0", "n1", "MPI Rank 0", "MPI Rank 1", "Master thread", "OMP thread 1",
  "CUDA context", "recorder", "sampled thread", "stream 7",
  "main", "MPI_Send", "MPI_Recv", "MPI_Irecv", "MPI_Wait", "MPI_Barrier", "!$omp parallel", "!$omp implicit barrier", "!$omp task",
  "pthread_create", "fopen", "kernel", "MPI_Put", "MPI_Iallreduce",
  "MPI_COMM_WORLD", "team of 0", "team of 1", "window", "FLOPS", "flop", "power", "W", "iteration", "colour", "red", "/data/input.bin",
  "handle", "MPI", "size", "grid", "x", "y", "./program", "--fast", "vendor", "main.c", "leaf", "timer", "threads", "bytes", "POSIX I/O" };
enum { R_MAIN, R_SEND, R_RECV, R_IRECV, R_WAIT, R_BARRIER, R_PARALLEL, R_IBARRIER, R_TASK, R_CREATE, R_FOPEN, R_KERNEL, R_PUT, R_IALL, R_LEAF };

#define E(w, t, r) OTF2_EvtWriter_Enter(w, NULL, t, r)
#define L(w, t, r) OTF2_EvtWriter_Leave(w, NULL, t, r)

/* Process 1 counts its regions and strings from 100, its communicators from 50. */
static int shift;
#define R(r) ((r) + (shift ? 100 : 0))
#define C(c) ((c) + (shift ? 50 : 0))
#define S(s) ((s) + (shift ? 100 : 0))

static uint64_t master(OTF2_Archive *a, int rank, uint64_t t)
{
  shift = rank;
  OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a, rank);
  OTF2_AttributeList *list = OTF2_AttributeList_New();
  OTF2_StringRef arg = S(S_ARG);
  OTF2_EvtWriter_ProgramBegin(w, NULL, t, S(S_PROG), 1, &arg);
  OTF2_AttributeList_AddUint64(list, 0, 4096);
  OTF2_AttributeList_AddStringRef(list, 1, S(S_RED));
  OTF2_AttributeList_AddDouble(list, 2, 0.5);
  OTF2_AttributeList_AddInt32(list, 3, -7);
  OTF2_EvtWriter_Enter(w, list, t += 100, R(R_MAIN));
  OTF2_EvtWriter_ParameterInt(w, NULL, t += 10, 0, -3);
  OTF2_EvtWriter_ParameterString(w, NULL, t += 10, 1, S(S_RED));
  OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, t += 10, 2, 42);
  OTF2_MetricValue v[2] = { { .unsigned_int = 1000 + rank }, { .floating_point = 2.5 } };
  OTF2_Type types[2] = { OTF2_TYPE_UINT64, OTF2_TYPE_DOUBLE };
  OTF2_EvtWriter_Metric(w, NULL, t += 10, 0, 2, types, v);

  /* A message there and back, the first answered by a nonblocking receive. */
  if (rank == 0) {
    E(w, t += 100, R(R_SEND));
    OTF2_EvtWriter_MpiSend(w, NULL, t += 10, 1, C(0), 7, 1024);
    OTF2_EvtWriter_MpiIsend(w, NULL, t += 10, 1, C(0), 8, 2048, 5);
    L(w, t += 100, R(R_SEND));
    E(w, t += 2000, R(R_RECV));
    OTF2_EvtWriter_MpiIsendComplete(w, NULL, t += 10, 5);
    OTF2_EvtWriter_MpiRecv(w, NULL, t += 4000, 1, C(0), 9, 512);
    L(w, t += 10, R(R_RECV));
  } else {
    E(w, t += 100, R(R_IRECV));
    OTF2_EvtWriter_MpiIrecvRequest(w, NULL, t += 10, 11);
    L(w, t += 10, R(R_IRECV));
    E(w, t += 10, R(R_RECV));
    OTF2_EvtWriter_MpiRecv(w, NULL, t += 1000, 0, C(0), 8, 2048);
    L(w, t += 10, R(R_RECV));
    E(w, t += 100, R(R_WAIT));
    OTF2_EvtWriter_MpiRequestTest(w, NULL, t += 10, 11);
    OTF2_EvtWriter_MpiIrecv(w, NULL, t += 100, 0, C(0), 7, 1024, 11);
    L(w, t += 10, R(R_WAIT));
    E(w, t += 100, R(R_IRECV));
    OTF2_EvtWriter_MpiIrecvRequest(w, NULL, t += 10, 12);
    OTF2_EvtWriter_MpiRequestCancelled(w, NULL, t += 10, 12);
    L(w, t += 10, R(R_IRECV));
    E(w, t += 100, R(R_SEND));
    OTF2_EvtWriter_MpiSend(w, NULL, t += 1000, 0, C(0), 9, 512);
    L(w, t += 10, R(R_SEND));
  }
  t = 30000 + (rank ? 0 : 5100);
  E(w, t, R(R_BARRIER));
  OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, t += 10);
  OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, t += 1000, OTF2_COLLECTIVE_OP_BARRIER, C(0), OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
  L(w, t += 10, R(R_BARRIER));
  E(w, t += 10, R(R_IALL));
  OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, t += 10, 77);
  OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, t += 10, OTF2_COLLECTIVE_OP_ALLREDUCE, C(0), OTF2_COLLECTIVE_ROOT_NONE, 64, 64, 77);
  L(w, t += 10, R(R_IALL));
  E(w, t += 10, R(R_PUT));
  OTF2_EvtWriter_RmaWinCreate(w, NULL, t += 10, 0);
  OTF2_EvtWriter_RmaPut(w, NULL, t += 10, 0, 1 - rank, 300, 1);
  OTF2_EvtWriter_RmaGet(w, NULL, t += 10, 0, 1 - rank, 400, 2);
  OTF2_EvtWriter_RmaAtomic(w, NULL, t += 10, 0, 1 - rank, OTF2_RMA_ATOMIC_TYPE_SWAP, 8, 8, 3);
  OTF2_EvtWriter_RmaOpTest(w, NULL, t += 10, 0, 1);
  OTF2_EvtWriter_RmaOpCompleteBlocking(w, NULL, t += 100, 0, 1);
  OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, t += 100, 0, 2);
  OTF2_EvtWriter_RmaRequestLock(w, NULL, t += 10, 0, 1 - rank, 1, OTF2_LOCK_SHARED);
  OTF2_EvtWriter_RmaAcquireLock(w, NULL, t += 10, 0, 1 - rank, 1, OTF2_LOCK_SHARED);
  OTF2_EvtWriter_RmaTryLock(w, NULL, t += 10, 0, 1 - rank, 1, OTF2_LOCK_EXCLUSIVE);
  OTF2_EvtWriter_RmaReleaseLock(w, NULL, t += 10, 0, 1 - rank, 1);
  OTF2_EvtWriter_RmaSync(w, NULL, t += 10, 0, 1 - rank, OTF2_RMA_SYNC_TYPE_NOTIFY_IN);
  OTF2_EvtWriter_RmaWaitChange(w, NULL, t += 10, 0);
  OTF2_EvtWriter_RmaGroupSync(w, NULL, t += 10, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, 1);
  OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, t += 10);
  OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, t += 10, OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, OTF2_UNDEFINED_UINT32, 1, 2);
  OTF2_EvtWriter_RmaWinDestroy(w, NULL, t += 10, 0);
  L(w, t += 10, R(R_PUT));

  /* A team of two with a task that the other thread runs. */
  OTF2_EvtWriter_ThreadFork(w, NULL, t = 40000 + (rank ? 0 : 5300), OTF2_PARADIGM_OPENMP, 2);
  OTF2_EvtWriter_ThreadTeamBegin(w, NULL, t += 10, C(1 + rank));
  E(w, t += 10, R(R_PARALLEL));
  OTF2_EvtWriter_ThreadAcquireLock(w, NULL, t += 10, OTF2_PARADIGM_OPENMP, 3, 1);
  OTF2_EvtWriter_ThreadTaskCreate(w, NULL, t += 10, C(1 + rank), 0, 1);
  OTF2_EvtWriter_ThreadReleaseLock(w, NULL, t += 10, OTF2_PARADIGM_OPENMP, 3, 1);
  E(w, t += 100, R(R_IBARRIER));
  L(w, t += 2000, R(R_IBARRIER));
  L(w, t += 10, R(R_PARALLEL));
  OTF2_EvtWriter_ThreadTeamEnd(w, NULL, t += 10, C(1 + rank));
  OTF2_EvtWriter_ThreadJoin(w, NULL, t += 10, OTF2_PARADIGM_OPENMP);

  if (rank == 0) {
    E(w, t += 10, R(R_CREATE));
    OTF2_EvtWriter_ThreadCreate(w, NULL, t += 10, 3, 1);
    L(w, t += 10, R(R_CREATE));
    E(w, t += 10, R(R_FOPEN));
    OTF2_EvtWriter_IoCreateHandle(w, NULL, t += 10, 0, OTF2_IO_ACCESS_MODE_READ_WRITE, OTF2_IO_CREATION_FLAG_CREATE, OTF2_IO_STATUS_FLAG_NONE);
    OTF2_EvtWriter_IoOperationBegin(w, NULL, t += 10, 0, OTF2_IO_OPERATION_MODE_READ, OTF2_IO_OPERATION_FLAG_NONE, 100, 1);
    OTF2_EvtWriter_IoOperationIssued(w, NULL, t += 10, 0, 1);
    OTF2_EvtWriter_IoOperationTest(w, NULL, t += 10, 0, 1);
    OTF2_EvtWriter_IoOperationComplete(w, NULL, t += 10, 0, 99, 1);
    OTF2_EvtWriter_IoSeek(w, NULL, t += 10, 0, -5, OTF2_IO_SEEK_FROM_END, 94);
    OTF2_EvtWriter_IoOperationBegin(w, NULL, t += 10, 0, OTF2_IO_OPERATION_MODE_WRITE, OTF2_IO_OPERATION_FLAG_NON_BLOCKING, 50, 2);
    OTF2_EvtWriter_IoOperationCancelled(w, NULL, t += 10, 0, 2);
    OTF2_EvtWriter_IoAcquireLock(w, NULL, t += 10, 0, OTF2_LOCK_EXCLUSIVE);
    OTF2_EvtWriter_IoTryLock(w, NULL, t += 10, 0, OTF2_LOCK_SHARED);
    OTF2_EvtWriter_IoReleaseLock(w, NULL, t += 10, 0, OTF2_LOCK_EXCLUSIVE);
    OTF2_EvtWriter_IoChangeStatusFlags(w, NULL, t += 10, 0, OTF2_IO_STATUS_FLAG_APPEND);
    OTF2_EvtWriter_IoDuplicateHandle(w, NULL, t += 10, 0, 1, OTF2_IO_STATUS_FLAG_NONE);
    OTF2_EvtWriter_IoDestroyHandle(w, NULL, t += 10, 0);
    OTF2_EvtWriter_IoDeleteFile(w, NULL, t += 10, 0, 0);
    L(w, t += 10, R(R_FOPEN));
    OTF2_EvtWriter_CommCreate(w, NULL, t += 10, 0);
    OTF2_EvtWriter_CommDestroy(w, NULL, t += 10, 0);
    OTF2_EvtWriter_BufferFlush(w, NULL, t += 10, t + 500);
    OTF2_EvtWriter_MeasurementOnOff(w, NULL, t += 600, OTF2_MEASUREMENT_OFF);
    OTF2_EvtWriter_MeasurementOnOff(w, NULL, t += 700, OTF2_MEASUREMENT_ON);
    OTF2_EvtWriter_ThreadWait(w, NULL, t = 58000, 3, 1);
  }
  t = 60000;
  L(w, t, R(R_MAIN));
  OTF2_EvtWriter_ProgramEnd(w, NULL, t += 10, rank);
  uint64_t n;
  OTF2_EvtWriter_GetNumberOfEvents(w, &n);
  OTF2_Archive_CloseEvtWriter(a, w);
  return n;
}

/* The second thread of a team. */
static uint64_t worker(OTF2_Archive *a, int rank)
{
  shift = rank;
  uint64_t t = 40100 + (rank ? 0 : 5300);
  OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a, (1ull << 32) + rank);
  OTF2_EvtWriter_ThreadTeamBegin(w, NULL, t, C(1 + rank));
  E(w, t += 10, R(R_PARALLEL));
  OTF2_EvtWriter_ThreadTaskSwitch(w, NULL, t += 200, C(1 + rank), 0, 1);
  E(w, t += 10, R(R_TASK));
  L(w, t += 500, R(R_TASK));
  OTF2_EvtWriter_ThreadTaskComplete(w, NULL, t += 10, C(1 + rank), 0, 1);
  OTF2_EvtWriter_ThreadTaskSwitch(w, NULL, t += 10, C(1 + rank), 1, 0);
  L(w, t += 100, R(R_PARALLEL));
  OTF2_EvtWriter_ThreadTeamEnd(w, NULL, t += 10, C(1 + rank));
  uint64_t n;
  OTF2_EvtWriter_GetNumberOfEvents(w, &n);
  OTF2_Archive_CloseEvtWriter(a, w);
  return n;
}

static void maps(OTF2_DefWriter *d)
{
  OTF2_IdMap *s = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, S_LAST), *r = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, R_LEAF + 1), *c = OTF2_IdMap_Create(OTF2_ID_MAP_DENSE, 53);
  for (int i = 0; i < S_LAST; i++) OTF2_IdMap_AddIdPair(s, 100 + i, i);
  for (int i = 0; i <= R_LEAF; i++) OTF2_IdMap_AddIdPair(r, 100 + i, i);
  for (int i = 0; i < 53; i++) OTF2_IdMap_AddIdPair(c, i, i < 50 ? OTF2_UNDEFINED_UINT32 : i - 50);
  OTF2_DefWriter_WriteMappingTable(d, OTF2_MAPPING_STRING, s);
  OTF2_DefWriter_WriteMappingTable(d, OTF2_MAPPING_REGION, r);
  OTF2_DefWriter_WriteMappingTable(d, OTF2_MAPPING_COMM, c);
  OTF2_DefWriter_WriteClockOffset(d, 0, 5000, 1.5);
  OTF2_DefWriter_WriteClockOffset(d, 100000, 6000, 1.5);
}

int main(int argc, char **argv)
{
  OTF2_Archive *a = OTF2_Archive_Open(argv[1], "records", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 18, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  OTF2_Archive_SetFlushCallbacks(a, &flush, NULL);
  OTF2_Archive_SetSerialCollectiveCallbacks(a);
  OTF2_Archive_SetCreator(a, "records.c");
  OTF2_Archive_SetDescription(a, "every kind of record");
  OTF2_Archive_SetMachineName(a, "nowhere");
  OTF2_Archive_SetProperty(a, "RECORDS::ONE", "1", true);
  OTF2_Archive_OpenEvtFiles(a);
  const OTF2_LocationRef at[] = { 0, 1, 1ull << 32, (1ull << 32) + 1, 2, 3, 4 };
  uint64_t n[7];
  n[0] = master(a, 0, 5000);
  n[1] = master(a, 1, 0);
  n[2] = worker(a, 0);
  n[3] = worker(a, 1);
  shift = 0;
  OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a, 2); /* a GPU stream */
  E(w, 20000, R_KERNEL);
  L(w, 25000, R_KERNEL);
  OTF2_EvtWriter_GetNumberOfEvents(w, &n[4]);
  OTF2_Archive_CloseEvtWriter(a, w);
  w = OTF2_Archive_GetEvtWriter(a, 3); /* a recorder of the node's power */
  for (int i = 0; i < 4; i++) {
    OTF2_MetricValue v = { .signed_int = -10 + i };
    OTF2_Type type = OTF2_TYPE_INT64;
    OTF2_EvtWriter_Metric(w, NULL, 10000 * (i + 1), 2, 1, &type, &v);
  }
  OTF2_EvtWriter_GetNumberOfEvents(w, &n[5]);
  OTF2_Archive_CloseEvtWriter(a, w);
  w = OTF2_Archive_GetEvtWriter(a, 4); /* a thread that is sampled: main > kernel > leaf */
  OTF2_EvtWriter_ThreadBegin(w, NULL, 50000, 3, 1);
  OTF2_EvtWriter_CallingContextEnter(w, NULL, 50100, 0, 2);
  OTF2_EvtWriter_CallingContextSample(w, NULL, 51000, 2, 3, 0);
  OTF2_EvtWriter_CallingContextSample(w, NULL, 52000, 2, 0, 0);
  OTF2_EvtWriter_CallingContextSample(w, NULL, 53000, 2, 2, 0); /* leaf again, anew */
  OTF2_EvtWriter_CallingContextSample(w, NULL, 54000, 1, 1, 0);
  OTF2_EvtWriter_CallingContextLeave(w, NULL, 56000, 0);
  OTF2_EvtWriter_ThreadEnd(w, NULL, 57000, 3, 1);
  OTF2_EvtWriter_GetNumberOfEvents(w, &n[6]);
  OTF2_Archive_CloseEvtWriter(a, w);
  OTF2_Archive_CloseEvtFiles(a);

  OTF2_Archive_OpenDefFiles(a);
  for (int i = 0; i < 7; i++) {
    OTF2_DefWriter *d = OTF2_Archive_GetDefWriter(a, at[i]);
    if (i == 1 || i == 3) maps(d);
    OTF2_Archive_CloseDefWriter(a, d);
  }
  OTF2_Archive_CloseDefFiles(a);

  OTF2_GlobalDefWriter *g = OTF2_Archive_GetGlobalDefWriter(a);
  OTF2_GlobalDefWriter_WriteClockProperties(g, 2000000000, 5000, 60000, 1700000000000000000ull);
  for (int i = 0; i < S_LAST; i++) OTF2_GlobalDefWriter_WriteString(g, i, text[i]);
  OTF2_GlobalDefWriter_WriteParadigm(g, OTF2_PARADIGM_MPI, S_MPI, OTF2_PARADIGM_CLASS_PROCESS);
  OTF2_AttributeValue value = { .stringRef = S_RED };
  OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 0, S_CLUSTER, S_MACHINE, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(g, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
  OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(g, 0, S_PROP, OTF2_TYPE_STRING, value);
  OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 1, S_N0, S_NODE, 0);
  OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(g, 1, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
  OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 2, S_N1, S_NODE, 0);
  OTF2_GlobalDefWriter_WriteLocationGroup(g, 0, S_P0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1, OTF2_UNDEFINED_LOCATION_GROUP);
  OTF2_GlobalDefWriter_WriteLocationGroup(g, 1, S_P1, OTF2_LOCATION_GROUP_TYPE_PROCESS, 2, OTF2_UNDEFINED_LOCATION_GROUP);
  OTF2_GlobalDefWriter_WriteLocationGroup(g, 2, S_GPU, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 1, 0);
  value.uint64 = 4711;
  OTF2_GlobalDefWriter_WriteLocationGroupProperty(g, 0, S_ITER, OTF2_TYPE_UINT64, value);
  OTF2_GlobalDefWriter_WriteLocation(g, 0, S_MASTER, OTF2_LOCATION_TYPE_CPU_THREAD, n[0], 0);
  OTF2_GlobalDefWriter_WriteLocation(g, 1, S_MASTER, OTF2_LOCATION_TYPE_CPU_THREAD, n[1], 1);
  OTF2_GlobalDefWriter_WriteLocation(g, 2, S_STREAM, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, n[4], 2);
  OTF2_GlobalDefWriter_WriteLocation(g, 3, S_METRICS, OTF2_LOCATION_TYPE_METRIC, n[5], 0);
  OTF2_GlobalDefWriter_WriteLocation(g, 4, S_SAMPLED, OTF2_LOCATION_TYPE_CPU_THREAD, n[6], 0);
  OTF2_GlobalDefWriter_WriteLocation(g, 1ull << 32, S_WORKER, OTF2_LOCATION_TYPE_CPU_THREAD, n[2], 0);
  OTF2_GlobalDefWriter_WriteLocation(g, (1ull << 32) + 1, S_WORKER, OTF2_LOCATION_TYPE_CPU_THREAD, n[3], 1);
  value.float64 = 1.25;
  OTF2_GlobalDefWriter_WriteLocationProperty(g, 0, S_SIZE, OTF2_TYPE_DOUBLE, value);
  static const struct { int name, role, paradigm, line; } regions[] = {
    { S_MAIN, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER, 10 }, { S_SEND, OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI, 0 },
    { S_RECV, OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI, 0 }, { S_IRECV, OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI, 0 },
    { S_WAIT, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI, 0 }, { S_BARRIER, OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_MPI, 0 },
    { S_PARALLEL, OTF2_REGION_ROLE_PARALLEL, OTF2_PARADIGM_OPENMP, 20 }, { S_IBARRIER, OTF2_REGION_ROLE_IMPLICIT_BARRIER, OTF2_PARADIGM_OPENMP, 30 },
    { S_TASK, OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_OPENMP, 25 }, { S_CREATE, OTF2_REGION_ROLE_THREAD_CREATE, OTF2_PARADIGM_PTHREAD, 0 },
    { S_FOPEN, OTF2_REGION_ROLE_FILE_IO, OTF2_PARADIGM_UNKNOWN, 0 }, { S_KERNEL, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA, 0 },
    { S_PUT, OTF2_REGION_ROLE_RMA, OTF2_PARADIGM_MPI, 0 }, { S_IALL, OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_PARADIGM_MPI, 0 },
    { S_LEAF, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING, 40 } };
  for (int i = 0; i <= R_LEAF; i++)
    OTF2_GlobalDefWriter_WriteRegion(g, i, regions[i].name, regions[i].name, S_EMPTY, regions[i].role, regions[i].paradigm, OTF2_REGION_FLAG_NONE, S_SOURCE, regions[i].line, regions[i].line + 5);
  uint64_t world[] = { 0, 1 }, ranks[] = { 0, 1 }, omp[] = { 0, 1ull << 32, 1, (1ull << 32) + 1 }, team0[] = { 0, 1 }, team1[] = { 2, 3 }, pthreads[] = { 0, 4 };
  OTF2_GlobalDefWriter_WriteGroup(g, 0, S_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, world);
  OTF2_GlobalDefWriter_WriteGroup(g, 1, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, ranks);
  OTF2_GlobalDefWriter_WriteGroup(g, 2, S_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE, 4, omp);
  OTF2_GlobalDefWriter_WriteGroup(g, 3, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE, 2, team0);
  OTF2_GlobalDefWriter_WriteGroup(g, 4, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE, 2, team1);
  OTF2_GlobalDefWriter_WriteGroup(g, 5, S_EMPTY, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_PTHREAD, OTF2_GROUP_FLAG_NONE, 2, pthreads);
  OTF2_GlobalDefWriter_WriteGroup(g, 6, S_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_PTHREAD, OTF2_GROUP_FLAG_NONE, 2, ranks);
  OTF2_GlobalDefWriter_WriteComm(g, 0, S_WORLD, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS);
  OTF2_GlobalDefWriter_WriteComm(g, 1, S_TEAM0, 3, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(g, 2, S_TEAM1, 4, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteComm(g, 3, S_PTHREADS, 6, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteRmaWin(g, 0, S_WIN, 0, OTF2_RMA_WIN_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteParameter(g, 0, S_PARAM, OTF2_PARAMETER_TYPE_INT64);
  OTF2_GlobalDefWriter_WriteParameter(g, 1, S_COLOUR, OTF2_PARAMETER_TYPE_STRING);
  OTF2_GlobalDefWriter_WriteParameter(g, 2, S_SIZE, OTF2_PARAMETER_TYPE_UINT64);
  OTF2_GlobalDefWriter_WriteAttribute(g, 0, S_SIZE, S_EMPTY, OTF2_TYPE_UINT64);
  OTF2_GlobalDefWriter_WriteAttribute(g, 1, S_PROP, S_EMPTY, OTF2_TYPE_STRING);
  OTF2_GlobalDefWriter_WriteAttribute(g, 2, S_X, S_EMPTY, OTF2_TYPE_DOUBLE);
  OTF2_GlobalDefWriter_WriteAttribute(g, 3, S_Y, S_EMPTY, OTF2_TYPE_INT32);
  OTF2_GlobalDefWriter_WriteMetricMember(g, 0, S_FLOPS, S_EMPTY, OTF2_METRIC_TYPE_PAPI, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 3, S_UNIT);
  OTF2_GlobalDefWriter_WriteMetricMember(g, 1, S_SIZE, S_EMPTY, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, S_EMPTY);
  OTF2_GlobalDefWriter_WriteMetricMember(g, 2, S_POWER, S_EMPTY, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_LAST, OTF2_TYPE_INT64, OTF2_BASE_BINARY, 2, S_WATT);
  OTF2_MetricMemberRef two[] = { 0, 1 }, one[] = { 2 };
  OTF2_GlobalDefWriter_WriteMetricClass(g, 0, 2, two, OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
  OTF2_GlobalDefWriter_WriteMetricClass(g, 1, 1, one, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT);
  OTF2_GlobalDefWriter_WriteMetricInstance(g, 2, 1, 3, OTF2_SCOPE_SYSTEM_TREE_NODE, 1);
  OTF2_GlobalDefWriter_WriteCartDimension(g, 0, S_X, 2, OTF2_CART_PERIODIC_TRUE);
  OTF2_GlobalDefWriter_WriteCartDimension(g, 1, S_Y, 1, OTF2_CART_PERIODIC_FALSE);
  OTF2_CartDimensionRef dims[] = { 0, 1 };
  OTF2_GlobalDefWriter_WriteCartTopology(g, 0, S_GRID, 0, 2, dims);
  uint32_t c0[] = { 0, 0 }, c1[] = { 1, 0 };
  OTF2_GlobalDefWriter_WriteCartCoordinate(g, 0, 0, 2, c0);
  OTF2_GlobalDefWriter_WriteCartCoordinate(g, 0, 1, 2, c1);
  OTF2_GlobalDefWriter_WriteSourceCodeLocation(g, 0, S_SOURCE, 41);
  OTF2_GlobalDefWriter_WriteCallingContext(g, 0, R_MAIN, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, OTF2_UNDEFINED_CALLING_CONTEXT);
  OTF2_GlobalDefWriter_WriteCallingContext(g, 1, R_KERNEL, 0, 0);
  OTF2_GlobalDefWriter_WriteCallingContext(g, 2, R_LEAF, 0, 1);
  OTF2_GlobalDefWriter_WriteInterruptGenerator(g, 0, S_TIMER, OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9, 500);
  OTF2_GlobalDefWriter_WriteIoParadigm(g, 0, S_POSIX, S_POSIX, OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL);
  OTF2_GlobalDefWriter_WriteIoRegularFile(g, 0, S_FILE, 1);
  OTF2_GlobalDefWriter_WriteIoHandle(g, 0, S_HANDLE, 0, 0, OTF2_IO_HANDLE_FLAG_NONE, OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE);
  OTF2_GlobalDefWriter_WriteIoHandle(g, 1, S_HANDLE, 0, 0, OTF2_IO_HANDLE_FLAG_NONE, OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE);
  OTF2_Archive_CloseGlobalDefWriter(a, g);
  OTF2_MarkerWriter *m = OTF2_Archive_GetMarkerWriter(a);
  OTF2_MarkerWriter_WriteDefMarker(m, 0, "checker", "suspicious", OTF2_SEVERITY_MEDIUM);
  OTF2_MarkerWriter_WriteMarker(m, 15000, 0, 0, OTF2_MARKER_SCOPE_LOCATION, 0, "look here");
  OTF2_MarkerWriter_WriteMarker(m, 16000, 10, 0, OTF2_MARKER_SCOPE_GLOBAL, OTF2_UNDEFINED_UINT64, "and everywhere");
  OTF2_Archive_CloseMarkerWriter(a, m);
  OTF2_Archive_Close(a);
  return 0;
}
