// Reduction ops and element types as MPI constants.
#pragma once

#include <mpi.h>

#include "execute/transport/communicator.h"

namespace shoal::internal {

inline MPI_Op OpOf(ReduceOp op) {
  constexpr auto kCount = 6;
  const MPI_Op ops[kCount] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR};
  return ops[static_cast<size_t>(op)];
}

inline MPI_Datatype TypeOf(ReduceType type) {
  constexpr auto kCount = 10;
  const MPI_Datatype types[kCount] = {MPI_FLOAT,   MPI_DOUBLE,  MPI_INT8_T,   MPI_INT16_T,  MPI_INT32_T,
                                      MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T};
  return types[static_cast<size_t>(type)];
}

}  // namespace shoal::internal
