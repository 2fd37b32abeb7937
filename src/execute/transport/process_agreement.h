// Checks that all processes of a job run the same module with the same options.
#pragma once

#include "execute/transport/job.h"

namespace shoal::internal {

uint64_t DigestOf(std::string_view bytes);

// The program version, options and module file of one process.
struct ProcessInputs {
  std::string version, arguments, file;
  uint64_t digest = 0;  // hash of the file
  Status status;        // result of reading and checking the file
};

// Collective. Fails if a process differs from rank 0; the message names the lowest such rank and the difference. If all
// processes fail to read the file in the same way, they agree.
Status CheckProcessesAgree(Job& job, const ProcessInputs& own);

}  // namespace shoal::internal
