// Observers for debugging a program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "execute/interp/device.h"

namespace shoal::internal {

class Job;

// Stops the run at the first instruction that produces a NaN from operands without NaN, or an infinity from finite
// operands. Constants and parameters may contain both: for example, -inf is the initial value of a maximum.
std::unique_ptr<Observer> NewNanCheck(const Module& module, int64_t devices);

// Writes every value of the instructions whose names match `pattern`: the first to FOLDER/dD/NAME.npy, later ones to
// NAME@1.npy and so on, and the arrays of a tuple to NAME:0.npy and so on. (NAME.1 may be another instruction's name.)
// If several computations have an instruction NAME, the file name starts with the computation's name and a dot.
class Dump : public Observer {
 public:
  // Fails if the pattern is not a valid regular expression (RE2 syntax) or matches no instruction.
  static Result<std::unique_ptr<Dump>> Create(const Module& module, const std::string& pattern,
                                              const std::string& folder, int64_t devices);
  // The values written so far, as text: "12 values of 3 instructions to FOLDER".
  virtual std::string Summary() const = 0;
  // All processes of a job must call this. Afterwards Summary on the first process counts the values of all processes.
  virtual void Gather(Job& job) = 0;
};

// An observer that forwards each value to all `observers`, in order.
std::unique_ptr<Observer> NewObservers(std::vector<Observer*> observers);

}  // namespace shoal::internal
