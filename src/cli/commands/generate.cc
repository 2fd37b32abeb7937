#include "cli/commands/generate.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "cli/commands/progress.h"
#include "core/base/strings.h"
#include "core/base/units.h"

namespace shoal::internal {
namespace {

double BytesAsNumber(const Shape& shape) {
  double bytes = 0;
  if (shape.IsTuple())
    for (const Shape* element : shape.elements()) bytes += BytesAsNumber(*element);
  if (!shape.IsArray()) return bytes;
  bytes = StorageBytes(shape.element_type());
  for (int64_t size : shape.dims()) bytes *= static_cast<double>(size);
  return bytes;
}

}  // namespace

Result<std::vector<FixedInput>> ParseFixedInputs(const Module& module, const std::vector<std::string>& texts) {
  std::vector<FixedInput> inputs;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const std::string name = text.substr(0, equals);
    double value = 0;
    if (equals == std::string::npos || !absl::SimpleAtod(text.substr(equals + 1), &value))
      return Fail(StrCat("--input needs NAME=VALUE, as in --input step=3, got '", text, "'"));
    if (FindParameter(module, name) == nullptr)
      return Fail(StrCat("--input: the entry computation has no parameter '", name, "'"));
    inputs.push_back({name, value});
  }
  return inputs;
}

std::vector<std::string> GeneratedInputNotes(const Module& module, const std::string& mode) {
  const std::vector<Leaf> leaves = ParameterLeaves(module);
  const bool is_random = mode.find("random") != std::string::npos;
  return is_random ? InputUseNotes(leaves, InputUsesOf(leaves)) : std::vector<std::string>();
}

Arguments Generate(const Module& module, const DeviceGrid& grid, const std::string& mode, uint64_t seed,
                   const std::vector<FixedInput>& fixed, const Placement* placement) {
  const ArgumentMode argument_mode = *ParseArgumentMode(mode);
  const double total = GeneratedBytes(module, grid, argument_mode, placement);
  double done = 0;
  ProgressLine line("generating inputs");
  return GenerateArguments(module, grid, {argument_mode, seed, fixed}, [&](int64_t bytes) {
    done += static_cast<double>(bytes);
    line.Show(done, total, StrCat(FormatBytes(done), " of ", FormatBytes(total)));
  }, placement);
}

int64_t ResultBytes(const Module& module) {
  constexpr double kMax = 0x1p62;
  return static_cast<int64_t>(std::min(BytesAsNumber(module.entry->result_shape()), kMax));
}

}  // namespace shoal::internal
