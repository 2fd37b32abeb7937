// Observers that help to find what is wrong with a program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "execute/interp/device.h"

namespace shoal::internal {

class Job;

// Stops the run at the first NaN that an instruction makes from operands without one, or the first infinity that it
// makes from finite operands. Constants and parameters may have them: -inf is what a maximum begins with.
std::unique_ptr<Observer> NewNanCheck(const Module& module, int64_t devices);

// Writes every value of the instructions whose name matches `pattern` to FOLDER/dD/NAME.npy, and when one is evaluated
// again to NAME@1.npy and so on; the arrays of a tuple to NAME:0.npy and so on. (NAME.1 is what another instruction may
// be called.) Where two computations have an instruction of that name, the computation's name and a dot stand before.
class Dump : public Observer {
 public:
  // Fails if the pattern is no regular expression (RE2's syntax) or matches nothing.
  static Result<std::unique_ptr<Dump>> Create(const Module& module, const std::string& pattern,
                                              const std::string& folder, int64_t devices);
  // "12 values of 3 instructions to FOLDER"
  virtual std::string Summary() const = 0;
  // In a job every process comes here, and Written at the first counts what all have written.
  virtual void Gather(Job& job) = 0;
};

// Tells all of them, in this order.
std::unique_ptr<Observer> NewObservers(std::vector<Observer*> observers);

}  // namespace shoal::internal
