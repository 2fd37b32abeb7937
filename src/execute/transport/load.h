// Loads the MPI backend and joins the job that the launcher started.
#pragma once

#include "core/base/result.h"
#include "execute/transport/communicator.h"

namespace shoal::internal {

// Loads libshoal_mpi.so from the program's folder. Called at most once per process.
Result<std::unique_ptr<Communicator>> LoadMpi();

}  // namespace shoal::internal
