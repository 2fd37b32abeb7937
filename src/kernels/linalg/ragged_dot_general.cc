// Implements RaggedDotGeneral of dot_general.h.
#include <algorithm>

#include "kernels/arrays/strided.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/linalg/dot_general.h"

namespace shoal::internal {
namespace {

bool Has(Ints dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

Dims LhsFree(const Array& lhs, const ContractionDims& dims) {
  Dims free;
  for (int64_t d = 0; d < lhs.rank(); ++d)
    if (!Has(dims.lhs_batch, d) && !Has(dims.lhs_contracting, d)) free.push_back(d);
  return free;
}

// A part of an array: a start and a size for each dimension.
struct Box {
  Dims starts, sizes;
  explicit Box(const Array& array) : starts(static_cast<size_t>(array.rank()), 0), sizes(ToDims(array.dims())) {}
  void Restrict(int64_t dim, int64_t start, int64_t size) {
    starts[static_cast<size_t>(dim)] = start;
    sizes[static_cast<size_t>(dim)] = size;
  }
  Strided StridedIn(const Array& array) const {
    Strided strided{0, RowMajorStrides(array.dims())};
    for (size_t d = 0; d < starts.size(); ++d) strided.offset += starts[d] * strided.strides[d];
    return strided;
  }
};

Array SliceOf(const Array& array, const Box& box) { return Gathered(array, box.sizes, box.StridedIn(array)); }

// Adds `part` to the box of `total`.
void AddToBox(Array& total, const Box& box, const Array& part) {
  if (part.count() == 0) return;
  Array sum = SliceOf(total, box);
  std::byte* out = sum.mutable_data();
  const std::byte* in[] = {out, part.data()};
  ElementLoopForBinary(Opcode::kAdd, total.type()).Run(out, in, sum.count());
  const Strided to = box.StridedIn(total);
  CopyStrided(AsInts(box.sizes), total.element_bytes(), total.mutable_data(), to, sum.data(),
              {0, RowMajorStrides(AsInts(box.sizes))});
}

// The contraction, group by group: for each index of the outer dimensions, group_sizes has a row.
class RaggedContraction {
 public:
  RaggedContraction(const Array& lhs, const Array& rhs, const Array& sizes, const RaggedDims& dims, ElementType result)
      : lhs_(lhs),
        rhs_(rhs),
        sizes_(sizes),
        dims_(dims.product),
        rhs_group_(dims.rhs_group),
        ragged_(dims.lhs_ragged),
        contracting_(Has(dims_.lhs_contracting, ragged_)),
        total_(Array::Zeros(SumType(lhs.type(), rhs.type(), result), ResultDims())) {
    if (sizes_.rank() > 1) outer_ = OuterDims(lhs, dims);
  }

  Array Run() {
    const int64_t groups = sizes_.dim(sizes_.rank() - 1);
    const int64_t rows = groups == 0 ? 0 : sizes_.count() / groups;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t end = 0;
      for (int64_t group = 0; group < groups; ++group) {
        const int64_t size = IntAt(sizes_, row * groups + group);
        const int64_t start = end;
        if (__builtin_add_overflow(start, size, &end)) return total_;
        AddGroup(row, group, std::max<int64_t>(start, 0), std::min(end, lhs_.dim(ragged_)));
      }
    }
    return total_;
  }

 private:
  Ints ResultDims() {
    if (contracting_) result_dims_.push_back(sizes_.dim(sizes_.rank() - 1));
    for (int64_t d : dims_.lhs_batch) result_dims_.push_back(lhs_.dim(d));
    for (int64_t d : LhsFree(lhs_, dims_)) result_dims_.push_back(lhs_.dim(d));
    for (int64_t d = 0; d < rhs_.rank(); ++d)
      if (!Has(dims_.rhs_batch, d) && !Has(dims_.rhs_contracting, d) && !Has(rhs_group_, d))
        result_dims_.push_back(rhs_.dim(d));
    return AsInts(result_dims_);
  }

  // Restricts all three boxes to index `at` of a dimension of the lhs.
  void RestrictOuter(int64_t dim, int64_t at, Box& lhs, Box& rhs, Box& result) const {
    lhs.Restrict(dim, at, 1);
    const int64_t first = contracting_ ? 1 : 0;
    const Ints batch = dims_.lhs_batch, contracting = dims_.lhs_contracting;
    const auto b = std::find(batch.begin(), batch.end(), dim) - batch.begin();
    const auto c = std::find(contracting.begin(), contracting.end(), dim) - contracting.begin();
    if (Has(batch, dim)) {
      rhs.Restrict(dims_.rhs_batch[static_cast<size_t>(b)], at, 1);
      result.Restrict(first + b, at, 1);
    } else if (Has(contracting, dim)) {
      rhs.Restrict(dims_.rhs_contracting[static_cast<size_t>(c)], at, 1);
    } else {
      result.Restrict(first + ResultDimOfFree(dim), at, 1);
    }
  }

  int64_t ResultDimOfFree(int64_t dim) const {
    const Dims free = LhsFree(lhs_, dims_);
    return static_cast<int64_t>(dims_.lhs_batch.size()) + (std::find(free.begin(), free.end(), dim) - free.begin());
  }

  void AddGroup(int64_t row, int64_t group, int64_t start, int64_t end) {
    if (start >= end) return;
    Box lhs(lhs_), rhs(rhs_), result(total_);
    for (size_t i = outer_.size(); i-- > 0;) {
      const int64_t size = sizes_.dim(static_cast<int64_t>(i));
      RestrictOuter(outer_[i], row % size, lhs, rhs, result);
      row /= size;
    }
    lhs.Restrict(ragged_, start, end - start);
    if (contracting_) {
      const Ints dims = dims_.lhs_contracting;
      const auto at = static_cast<size_t>(std::find(dims.begin(), dims.end(), ragged_) - dims.begin());
      rhs.Restrict(dims_.rhs_contracting[at], start, end - start);
      result.Restrict(0, group, 1);
    } else {
      rhs.Restrict(rhs_group_[0], group, 1);
      result.Restrict(ResultDimOfFree(ragged_), start, end - start);
    }
    const Array part = DotGeneral(SliceOf(lhs_, lhs), SliceOf(rhs_, rhs), dims_, total_.type());
    if (part.count() == ElementCount(AsInts(result.sizes))) AddToBox(total_, result, part);
  }

  const Array& lhs_;
  const Array& rhs_;
  const Array& sizes_;
  const ContractionDims dims_;
  const Ints rhs_group_;
  const int64_t ragged_;
  const bool contracting_;
  Dims result_dims_;
  Dims outer_;  // dimensions of the lhs
  Array total_;
};

}  // namespace

Dims OuterDims(const Array& lhs, const RaggedDims& dims) {
  const ContractionDims& pairs = dims.product;
  Dims outer = ToDims(pairs.lhs_batch);
  const Dims same_kind =
      Has(pairs.lhs_contracting, dims.lhs_ragged) ? ToDims(pairs.lhs_contracting) : LhsFree(lhs, pairs);
  outer.insert(outer.end(), same_kind.begin(), same_kind.end());
  outer.erase(std::find(outer.begin(), outer.end(), dims.lhs_ragged), outer.end());
  return outer;
}

Array RaggedDotGeneral(const Array& lhs, const Array& rhs, const Array& group_sizes, const RaggedDims& dims,
                    ElementType result) {
  if (Has(dims.product.lhs_batch, dims.lhs_ragged)) return DotGeneral(lhs, rhs, dims.product, result);
  const Array total = RaggedContraction(lhs, rhs, group_sizes, dims, result).Run();
  return total.type() == result ? total : Converted(total, result);
}

}  // namespace shoal::internal
