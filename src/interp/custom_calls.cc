// The custom calls that have a meaning here.
#include <algorithm>
#include <iterator>

#include "interp/custom_call.h"

namespace shoal {
namespace {

// Sorted by target.
constexpr CustomCallRow kRows[] = {
    {"AllocateBuffer", &MakeBuffer},
    {"CreateBuffer", &MakeBuffer},
    {"GetRngSeed", &GetRngSeed},
    {"InspectSharding", &Nothing},
    {"LayoutConstraint", &PassThrough},
    {"MoveToDevice", &PassThrough},
    {"MoveToHost", &PassThrough},
    {"PadToStatic", &PadToStatic},
    {"Pin", &PassThrough},
    {"SPMDFullToShardShape", &Reshard},
    {"SPMDShardToFullShape", &Reshard},
    {"SetBound", &PassThrough},
    {"Sharding", &PassThrough},
    {"SliceToDynamic", &SliceToDynamic},
    {"Unpin", &PassThrough},
    {"X64Combine", &X64},
    {"X64SplitHigh", &X64},
    {"X64SplitLow", &X64},
    {"__cublas$gemm", &CublasMatmul},
    {"__cublas$lt$matmul", &CublasMatmul},
    {"__cublas$lt$matmul$f8", &CublasMatmulF8},
    {"annotate_device_placement", &PassThrough},
    {"xla.sdy.*", &PassThrough},
    {"xla.sdy.GlobalToLocalShape", &Reshard},
    {"xla.sdy.LocalToGlobalShape", &Reshard},
};

constexpr bool Before(const CustomCallRow& a, const CustomCallRow& b) { return a.target < b.target; }
static_assert(std::is_sorted(std::begin(kRows), std::end(kRows), Before));

bool IsPattern(std::string_view target) { return target.ends_with('*'); }

}  // namespace

const CustomCallRow* FindCustomCall(std::string_view target) {
  const CustomCallRow* row =
      std::lower_bound(std::begin(kRows), std::end(kRows), CustomCallRow{target, nullptr}, Before);
  if (row != std::end(kRows) && row->target == target) return row;
  for (const CustomCallRow& pattern : kRows)
    if (IsPattern(pattern.target) && target.starts_with(pattern.target.substr(0, pattern.target.size() - 1)))
      return &pattern;
  return nullptr;
}

}  // namespace shoal
