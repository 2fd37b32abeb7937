// The files of an XLA dump directory (--xla_dump_to), grouped by module and compilation stage.
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
  int64_t order = 0;  // larger for later stages
};

struct DumpedModule {
  std::string name;             // subfolder and module name: sub/module_0001.jit_step
  std::vector<DumpFile> files;  // last stage first; a stage may have a text and a protobuf file
  int64_t Stages() const;
  int64_t Bytes() const;
};

struct DumpFolder {
  std::vector<DumpedModule> modules;      // sorted by name
  std::map<std::string, int64_t> others;  // number of other files by kind: "buffer-assignment.txt", "ll"
  std::vector<std::pair<std::string, std::string>> unreadable;  // path of a subfolder that cannot be read, and reason
};

// Lists a dump directory and its subfolders; or the different graphs of a file of XLA_SAVE_TENSORS_FILE. Does not open files: a file listed as a module may not be one.
Result<DumpFolder> ReadDumpFolder(const std::string& path);

}  // namespace shoal::internal
