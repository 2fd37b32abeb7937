#include "formats/files/graph_dump.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/source_location.h"

namespace shoal::internal {
namespace {

constexpr std::string_view kBegin = "## BEGIN_GRAPH", kEnd = "## END_GRAPH", kHash = "Graph Hash:",
                           kStack = "TensorsGraphInfo:";

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view LineAt(std::string_view text, size_t at) { return text.substr(at, text.find('\n', at) - at); }

// The location in the first line "  function (file:line)" whose file is not in an installed package, else in the first.
std::string_view LocationIn(std::string_view stack) {
  std::string_view first;
  for (size_t at = 0; at < stack.size(); at += LineAt(stack, at).size() + 1) {
    const std::string_view line = Trimmed(LineAt(stack, at));
    const size_t open = line.rfind(" (");
    if (open == std::string_view::npos || !line.ends_with(')')) continue;
    const std::string_view location = line.substr(open + 2, line.size() - open - 3);
    if (!IsInstalledFile(location)) return location;
    if (first.empty()) first = location;
  }
  return first;
}

}  // namespace

bool LooksLikeGraphDump(std::string_view text) {
  constexpr size_t kMaxHeader = 64 << 10;  // of the first graph: its stack and hashes
  return text.substr(0, kMaxHeader).find(kBegin) != std::string_view::npos;
}

std::vector<SavedGraph> FindSavedGraphs(std::string_view text) {
  std::vector<SavedGraph> graphs;
  size_t before = 0;
  for (size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, before)) {
    const size_t start = std::min(text.size(), at + LineAt(text, at).size());
    const size_t end = std::min(text.find(kEnd, start), text.size());
    SavedGraph graph;
    graph.number = std::ssize(graphs) + 1;
    graph.hlo = text.substr(start, end - start);
    if (const size_t hash = graph.hlo.rfind(kHash); hash != std::string_view::npos) {
      graph.hash = Trimmed(LineAt(graph.hlo, hash + kHash.size()));
      graph.hlo = graph.hlo.substr(0, hash);
    }
    const std::string_view header = text.substr(before, at - before);
    if (const size_t stack = header.rfind(kStack); stack != std::string_view::npos)
      graph.location = LocationIn(header.substr(stack));
    const auto same = std::find_if(graphs.begin(), graphs.end(), [&](const SavedGraph& other) {
      return graph.hash.empty() ? other.hlo == graph.hlo : other.hash == graph.hash;
    });
    graph.first_same = same == graphs.end() ? graph.number : same->number;
    graphs.push_back(graph);
    before = end;
  }
  return graphs;
}

GraphPath SplitGraphPath(const std::string& path) {
  std::error_code ignored;
  const size_t hash = path.rfind('#');
  GraphPath split{path, 0};
  if (hash == std::string::npos || std::filesystem::exists(path, ignored)) return split;
  if (absl::SimpleAtoi(path.substr(hash + 1), &split.graph) && split.graph > 0) split.file = path.substr(0, hash);
  return split;
}

Result<std::unique_ptr<Source>> SelectGraph(const Source& source, int64_t number) {
  const std::string_view text = source.text();
  const std::vector<SavedGraph> graphs = FindSavedGraphs(text);
  const auto distinct =
      std::ranges::count_if(graphs, [](const SavedGraph& graph) { return graph.first_same == graph.number; });
  if (number == 0 && distinct > 1)
    return Fail(StrCat("the file has ", graphs.size(), " graphs, ", distinct, " of them different; choose one, as in ",
                       source.name(), "#", graphs.size(), ", or list them with shoal stats"));
  const int64_t chosen = std::max<int64_t>(number, 1);
  if (chosen > std::ssize(graphs)) return Fail(StrCat("the file has only ", Pluralize(std::ssize(graphs), "graph")));
  const SavedGraph& graph = graphs[static_cast<size_t>(chosen) - 1];
  if (graph.hlo.find("HloModule") == std::string_view::npos)
    return Fail("the graphs are in PyTorch/XLA's own form; XLA_SAVE_TENSORS_FMT=hlo saves them as HLO");
  const auto first = static_cast<size_t>(graph.hlo.data() - text.data());
  std::string blank(text.substr(0, first));
  std::replace_if(blank.begin(), blank.end(), [](char c) { return c != '\n'; }, ' ');
  return Source::FromString(source.name(), blank.append(graph.hlo));
}

}  // namespace shoal::internal
