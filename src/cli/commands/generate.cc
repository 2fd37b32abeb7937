#include "cli/commands/generate.h"

#include <algorithm>

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

Arguments Generate(const Module& module, const DeviceGrid& grid, const std::string& mode, uint64_t seed,
                   const Placement* placement) {
  const ArgumentMode argument_mode = *ParseArgumentMode(mode);
  const double total = GeneratedBytes(module, grid, argument_mode, placement);
  double done = 0;
  ProgressLine line("generating inputs");
  return GenerateArguments(module, grid, argument_mode, seed, [&](int64_t bytes) {
    done += static_cast<double>(bytes);
    line.Show(done, total, StrCat(FormatBytes(done), " of ", FormatBytes(total)));
  }, placement);
}

int64_t ResultBytes(const Module& module) {
  constexpr double kMax = 0x1p62;
  return static_cast<int64_t>(std::min(BytesAsNumber(module.entry->result_shape()), kMax));
}

}  // namespace shoal::internal
