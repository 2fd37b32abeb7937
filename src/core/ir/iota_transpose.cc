#include <numeric>

#include "core/ir/device_groups.h"

namespace shoal::internal {
namespace {

// A factor of one dimension of `reshape`: the dimension, and the index of the factor, counted from the most major one.
struct Factor {
  int dim;
  int index;
};

// The factors into which each dimension of `reshape` is split, major to minor; and the factors that form each dimension
// of the result.
struct Factors {
  std::vector<std::vector<int64_t>> of_reshape;
  std::vector<std::vector<Factor>> of_result;
};

// Walks the result and the transposed `reshape` side by side, major to minor. Returns nullopt if a dimension of the
// result ends where `reshape` cannot be split, as in [2,3]<=[2,3]T(1,0).
std::optional<Factors> CommonFactors(const IotaTiles& iota) {
  Factors factors{std::vector<std::vector<int64_t>>(iota.reshape.size()),
                  std::vector<std::vector<Factor>>(iota.dims.size())};
  size_t next = 0;   // index into perm
  int dim = -1;      // the dimension of reshape that is being split
  int64_t rest = 1;  // its size that is not yet split
  for (size_t i = 0; i < iota.dims.size(); ++i) {
    int64_t wanted = iota.dims[i];
    while (wanted != 1) {
      if (rest == 1) {
        if (next == iota.perm.size()) return std::nullopt;
        dim = iota.perm[next++];
        rest = iota.reshape[dim];
        continue;
      }
      const int64_t common = std::gcd(wanted, rest);
      if (common == 1) return std::nullopt;
      wanted /= common;
      rest /= common;
      factors.of_result[i].push_back({dim, static_cast<int>(factors.of_reshape[dim].size())});
      factors.of_reshape[dim].push_back(common);
    }
  }
  return factors;
}

// True if `order` moves only dimensions of size 1, which leaves the order of the devices unchanged.
bool KeepsDeviceOrder(const std::vector<int64_t>& dims, const std::vector<int>& order) {
  int last = -1;
  for (int dim : order) {
    if (dims[dim] == 1) continue;
    if (dim < last) return false;
    last = dim;
  }
  return true;
}

}  // namespace

std::optional<IotaTiles> IotaTiles::Transposed(const std::vector<int>& order) const {
  std::vector<int64_t> new_dims;
  for (int dim : order) new_dims.push_back(dims[dim]);
  if (KeepsDeviceOrder(dims, order)) return IotaTiles{std::move(new_dims), reshape, perm};

  const std::optional<Factors> factors = CommonFactors(*this);
  if (!factors) return std::nullopt;
  std::vector<int64_t> new_reshape;
  std::vector<int> first_factor;  // for each dimension of `reshape`, its first index in `new_reshape`
  for (const std::vector<int64_t>& split : factors->of_reshape) {
    first_factor.push_back(static_cast<int>(new_reshape.size()));
    new_reshape.insert(new_reshape.end(), split.begin(), split.end());
  }
  std::vector<int> new_perm;
  for (int dim : order)
    for (const Factor& factor : factors->of_result[dim]) new_perm.push_back(first_factor[factor.dim] + factor.index);
  return Canonical(std::move(new_dims), std::move(new_reshape), std::move(new_perm));
}

}  // namespace shoal::internal
