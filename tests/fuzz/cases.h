// What is done with one module: every verb, as the command line does it, in this process.
#pragma once

#include <string>
#include <vector>

#include "random.h"

namespace shoal::internal::fuzz {

// Files to begin with.
struct Origin {
  std::string path, text;
};

// What a worker tells its parent, in memory they share: enough to write a finding when it is gone.
struct Note {
  int64_t number = -1;      // of the case
  int64_t since = 0;        // ns, when the call began
  char call[512] = {};      // "run --num_replicas=2 module.hlo"
  char complaint[256] = {};  // what was wrong, if the worker noticed itself
};

class Cases {
 public:
  // `folder` is the worker's own; files of a case are written there.
  Cases(const std::vector<Origin>& origins, uint64_t seed, std::string folder, Note& note);

  // Case `number`, from first to last. Returns false, with a complaint in the note, if a call ended in another way than
  // it should.
  bool Run(int64_t number);
  // A module with something that does not fit: the verbs that go by what its instructions are.
  bool RunMisfit(int64_t number, const std::string& text);
  // The calls for a file that is there. `origin` is what it was made from, for diff.
  bool RunFile(const std::string& path, const std::string& origin, Random& random);

 private:
  bool RunText(const std::string& text, const Origin& origin, Random& random);
  bool RunProto(const std::string& text, const Origin& origin, Random& random);
  bool RunArrays(Random& random);
  // The verbs that read a module; those that run it; those that write another form of it or see it beside another.
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
