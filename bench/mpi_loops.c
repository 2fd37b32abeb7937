// Measures plain MPI collectives as the OSU benchmarks do: the mean of many calls, on the slowest process.
// mpi_loops KIND BYTES ROUNDS prints microseconds. BYTES is the contribution of one process.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) {
    fprintf(stderr, "mpi_loops all-reduce|all-gather|all-to-all BYTES ROUNDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const char* kind = argv[1];
  const size_t bytes = (size_t)atoll(argv[2]);
  const int rounds = atoi(argv[3]), warm = rounds / 10 + 1;
  const int count = (int)(bytes / sizeof(float));
  float* in = malloc(bytes);
  float* out = malloc(bytes * (size_t)size);
  // Fills with ones: for zeros the compiler would emit calloc, whose unwritten pages all map to one cached page.
  memset(in, 1, bytes);
  memset(out, 1, bytes * (size_t)size);
  double start = 0;
  for (int i = 0; i < warm + rounds; ++i) {
    if (i == warm) {
      MPI_Barrier(MPI_COMM_WORLD);
      start = MPI_Wtime();
    }
    if (strcmp(kind, "all-reduce") == 0)
      MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(kind, "all-gather") == 0)
      MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD);
    else
      MPI_Alltoall(in, count / size, MPI_FLOAT, out, count / size, MPI_FLOAT, MPI_COMM_WORLD);
  }
  double own = (MPI_Wtime() - start) / rounds * 1e6, slowest = 0;
  MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.2f\n", slowest);
  MPI_Finalize();
  return 0;
}
