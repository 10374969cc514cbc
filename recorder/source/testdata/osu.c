/* What the OSU micro-benchmarks do between two ranks, for each size of message: a ping-pong (two calls a rank and round trip), a window of 64
   messages with one wait for all (65 calls a side and window), and an all-reduce. Prints "what size ns", the time of one round trip, of one
   message of a window, and of one all-reduce: the least of ROUNDS rounds, since others may use the machine. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 15, WINDOW = 64, MOST = 1 << 20 };

static char *out, *in;
static int rank;

static int repeats(int size) { return size <= 8192 ? 400 : size <= 65536 ? 100 : 20; }

static void pingpong(int size, int n) {
    for (int i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(out, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
}

static void window(int size, int n) {
    static MPI_Request r[WINDOW];
    static MPI_Status s[WINDOW];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < WINDOW; k++) {
            if (rank == 0)
                MPI_Isend(out, size, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &r[k]);
            else
                MPI_Irecv(in, size, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &r[k]);
        }
        MPI_Waitall(WINDOW, r, s);
        if (rank == 0)
            MPI_Recv(in, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(out, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
}

static void reduce(int size, int n) {
    for (int i = 0; i < n; i++) MPI_Allreduce(out, in, size, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
}

static void measure(const char *what, void (*f)(int, int), int size, int n, double each) {
    double best = 1e9;
    f(size, n / 10 + 1);
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        f(size, n);
        t = MPI_Wtime() - t;
        if (t < best) best = t;
    }
    if (rank == 0) printf("%s %d %.1f\n", what, size, best * 1e9 / n / each);
}

int main(int c, char **v) {
    MPI_Init(&c, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = calloc(1, MOST);
    in = calloc(1, MOST);
    for (int size = 8; size <= MOST; size *= 8) {
        measure("ping-pong", pingpong, size, repeats(size), 1);
        measure("window", window, size, repeats(size) / 20 + 1, WINDOW);
        measure("all-reduce", reduce, size, repeats(size), 1);
    }
    MPI_Finalize();
    return 0;
}
