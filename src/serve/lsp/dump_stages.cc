// Finds an instruction in the other compilation stages of its module, in the same XLA dump folder.
#include <filesystem>

#include "analyze/diff/match.h"
#include "core/base/strings.h"
#include "formats/files/dump_files.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

// Other stages of the module in `path`; empty if the file is not in a dump folder.
std::vector<std::string> OtherStages(const std::string& path) {
  std::vector<std::string> stages;
  const std::filesystem::path file(path);
  Result<DumpFolder> folder = ReadDumpFolder(file.parent_path().string());
  if (!folder.ok()) return stages;
  for (const DumpedModule& module : folder->modules) {
    bool contains = false;
    std::vector<std::string> others;
    for (const DumpFile& stage : module.files) {
      const bool same = std::filesystem::path(stage.path).filename() == file.filename();
      contains = contains || same;
      const bool is_text = stage.path.ends_with(".txt") || stage.path.ends_with(".hlo");
      if (!same && is_text) others.push_back(stage.path);
    }
    if (contains) return others;
  }
  return stages;
}

json CounterpartIn(const View& view, const Instruction& hlo, const std::string& path) {
  Result<std::unique_ptr<Source>> source = Source::Read(path);
  if (!source.ok()) return nullptr;
  const auto text = std::make_shared<const std::string>((*source)->text());
  const View other{std::make_shared<const Snapshot>(UriOfPath(path), text, 0, AnalysisSettings{nullptr, view.settings.own_packages}), view.encoding, view.settings};
  if (other.snapshot->analysis() == nullptr) return nullptr;
  const DiffSide a(*view.snapshot->analysis()->facts(), false), b(*other.snapshot->analysis()->facts(), false);
  const Matching matching = MatchInstructions(a, b);
  const uint32_t partner = matching.b_of[a.ids(hlo)];
  if (partner == kNoMatch) return nullptr;
  const IndexedInstruction* written = other.snapshot->IndexOf(b.ids[partner]);
  return written == nullptr ? json() : other.LocationOf(written->name);
}

}  // namespace

json CounterpartsAt(const View& view, uint32_t offset) {
  constexpr size_t kMaxStages = 8;
  const TextIndex& index = view.index();
  const NameReference* reference = index.ReferenceAt(offset);
  const IndexedInstruction* written =
      reference != nullptr && !reference->is_computation && reference->target != NameReference::kNone
          ? &index.instructions()[reference->target]
          : index.InstructionAt(offset);
  const Instruction* hlo = written == nullptr ? nullptr : view.snapshot->InstructionOf(*written);
  const std::string path = PathOfUri(view.snapshot->uri());
  if (hlo == nullptr || path.empty()) return nullptr;
  json all = json::array();
  for (const std::string& stage : OtherStages(path)) {
    if (all.size() >= kMaxStages) break;
    if (json found = CounterpartIn(view, *hlo, stage); !found.is_null()) all.push_back(std::move(found));
  }
  return all.empty() ? json() : all;
}

}  // namespace shoal::internal
