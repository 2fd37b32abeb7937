// The file that PyTorch/XLA writes if XLA_SAVE_TENSORS_FILE is set: the HLO text of each graph, with its Python stack.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/source.h"

namespace shoal::internal {

struct SavedGraph {
  int64_t number = 0;         // from 1, in the order of the file
  std::string_view hlo;       // the text of the module, a part of the file
  std::string_view hash;      // equal for equal graphs; empty if the file has none
  std::string_view location;  // the innermost line of the stack outside of installed packages: "train.py:4"
  int64_t first_same = 0;     // number of the first graph with this hash
};

bool LooksLikeGraphDump(std::string_view text);
std::vector<SavedGraph> FindSavedGraphs(std::string_view text);

// A path may end in #N, the number of a graph.
struct GraphPath {
  std::string file;
  int64_t graph = 0;  // 0: none
};
GraphPath SplitGraphPath(const std::string& path);

// The text of graph number `number`; if it is 0, of the only one. Fails if there are several. Lines and columns are
// those of the file.
Result<std::unique_ptr<Source>> SelectGraph(const Source& source, int64_t number);

}  // namespace shoal::internal
