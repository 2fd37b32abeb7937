// Opens the library that speaks MPI, and participants the job that the launcher started.
#pragma once

#include "core/base/result.h"
#include "execute/transport/communicator.h"

namespace shoal::internal {

// libshoal_mpi.so lies beside the program. Once per process.
Result<std::unique_ptr<Communicator>> LoadMpi();

}  // namespace shoal::internal
