// Whether the processes of a job were given the same.
#pragma once

#include "execute/transport/job.h"

namespace shoal::internal {

uint64_t DigestOf(std::string_view bytes);

// What one process was given.
struct ProcessInputs {
  std::string version, arguments, file;
  uint64_t digest = 0;  // of the file
  Status fault;  // what is wrong with it
};

// All processes come here. The failure names the first that differs from rank 0, and how; where all are at fault in the
// same way there is none.
Status CheckProcessesAgree(Job& job, const ProcessInputs& own);

}  // namespace shoal::internal
