// What handles to a job share.
#pragma once

#include <mutex>

#include "execute/transport/job.h"
#include "execute/transport/placement.h"
#include "shoal/job.h"

namespace shoal::internal {

struct JobState {
  explicit JobState(std::unique_ptr<Communicator> communicator) : job(std::move(communicator)) {}

  // Assigns the devices of an executable to the processes.
  Result<Placement> Place(int64_t devices);

  Job job;
  std::string spec;      // of the placement
  std::mutex mutex;      // guards `latest`
  Placement latest;      // of the last executable
};

// Null without a job.
inline Job* JobOf(const shoal::Job& job) { return job.empty() ? nullptr : &job.state()->job; }

}  // namespace shoal::internal
