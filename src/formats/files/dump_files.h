// The files of a folder that XLA dumped into (--xla_dump_to), sorted by module and by stage of compilation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

struct DumpFile {
  std::string path;
  int64_t bytes = 0;
  std::string stage;  // before_optimizations, 0003.pipeline.after_x.before_y, sm_9.0_gpu_after_optimizations; or ""
  int64_t order = 0;  // stages that come later have larger numbers
};

struct DumpedModule {
  std::string name;             // the folder below the one that was given, and module_0001.jit_step
  std::vector<DumpFile> files;  // the last stage first; a stage may be there as text and as protobuf
  int64_t Stages() const;
  int64_t Bytes() const;
};

struct DumpFolder {
  std::vector<DumpedModule> modules;      // by name
  std::map<std::string, int64_t> others;  // files that hold no module, by kind: "buffer-assignment.txt", "ll"
};

// Also of the folders in it. A file that is named like a module may turn out to be none.
Result<DumpFolder> ReadDumpFolder(const std::string& path);

}  // namespace shoal::internal
