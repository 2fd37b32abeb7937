// Runs all commands on one module, as the command line does, in this process.
#pragma once

#include <string>
#include <vector>

#include "random.h"

namespace shoal::internal::fuzz {

// The files to mutate.
struct Origin {
  std::string path, text;
};

// Shared memory in which a worker reports to its parent, so that a finding can be written after a crash.
struct Note {
  int64_t number = -1;      // of the case
  int64_t since = 0;        // ns, start of the call
  char call[512] = {};      // "run --num_replicas=2 module.hlo"
  char complaint[256] = {};  // the error, if the worker detected it itself
};

class Cases {
 public:
  // `folder` belongs to the worker; the files of a case are written there.
  Cases(const std::vector<Origin>& origins, uint64_t seed, std::string folder, Note& note);

  // Runs all calls of case `number`. Returns false, with a complaint in the note, if a call ends in an unexpected way.
  // The result depends only on the seed and the number.
  bool Run(int64_t number);
  // Runs the commands that depend on instruction types on an ill-typed module.
  bool RunIllTyped(int64_t number, const std::string& text);
  // Runs all calls for an existing file. `diff` compares it with `origin`, the file that it was mutated from.
  bool RunFile(const std::string& path, const std::string& origin, Random& random);

 private:
  bool RunText(const std::string& text, const Origin& origin, Random& random);
  bool RunProto(const std::string& text, const Origin& origin, Random& random);
  bool RunArrays(Random& random);
  // These call the commands that read a module, that run it, and that convert it or compare it with another.
  bool ReadIt(const std::string& path, Random& random);
  bool RunIt(const std::string& path, Random& random);
  bool CompareIt(const std::string& path, const std::string& origin, Random& random);
  bool Call(std::vector<std::string> arguments);
  std::vector<std::string> RunFlags(const std::string& path, Random& random) const;

  const std::vector<Origin>& origins_;
  uint64_t seed_;
  std::string folder_;
  Note& note_;
};

}  // namespace shoal::internal::fuzz
