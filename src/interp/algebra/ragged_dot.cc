// ragged-dot: as many products as there are groups, each of a stretch of the ragged dimension. What no group covers
// is zero, or counts as zero in a sum.
#include <algorithm>

#include "interp/algebra/product.h"
#include "interp/elementwise/elementwise.h"
#include "interp/evaluate.h"
#include "kernels/strided.h"

namespace shoal {
namespace {

using RaggedDot = Op<Opcode::kRaggedDot>;

bool Has(Ints dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

// A part of an array: a start and a size for each dimension.
struct Box {
  Dims starts, sizes;
  explicit Box(const Array& array) : starts(static_cast<size_t>(array.rank()), 0), sizes(ToDims(array.dims())) {}
  void Take(int64_t dim, int64_t start, int64_t size) {
    starts[static_cast<size_t>(dim)] = start;
    sizes[static_cast<size_t>(dim)] = size;
  }
  Strided In(const Array& array) const {
    Strided place{0, RowMajorStrides(array.dims())};
    for (size_t d = 0; d < starts.size(); ++d) place.offset += starts[d] * place.strides[d];
    return place;
  }
};

Array Part(const Array& array, const Box& box) { return Gathered(array, box.sizes, box.In(array)); }

// Adds `part` to the box of `total`.
void AddPart(Array& total, const Box& box, const Array& part) {
  if (part.count() == 0) return;
  Array sum = Part(total, box);
  std::byte* out = sum.mutable_data();
  const std::byte* in[] = {out, part.data()};
  BinaryKernel(Opcode::kAdd, total.type()).Run(out, in, sum.count());
  const Strided to = box.In(total);
  CopyStrided(AsInts(box.sizes), total.element_bytes(), total.mutable_data(), to, sum.data(),
              {0, RowMajorStrides(AsInts(box.sizes))});
}

// The product, taken apart: for each index of the outer dimensions, a row of group sizes.
class Groups {
 public:
  explicit Groups(Call& call)
      : hlo_(call.hlo),
        lhs_(call.array(0)),
        rhs_(call.array(1)),
        sizes_(call.array(2)),
        ragged_(hlo_[RaggedDot::kLhsRaggedDims][0]),
        contracting_(Has(hlo_[kLhsContractingDims], ragged_)),
        total_(Array::Zeros(SumType(lhs_.type(), rhs_.type(), hlo_.shape().element_type()), ResultDims())) {
    if (sizes_.rank() > 1) ListOuterDims();
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
  Dims LhsFree() const {
    Dims free;
    for (int64_t d = 0; d < lhs_.rank(); ++d)
      if (!Has(hlo_[kLhsBatchDims], d) && !Has(hlo_[kLhsContractingDims], d)) free.push_back(d);
    return free;
  }

  Ints ResultDims() {
    if (contracting_) result_dims_.push_back(sizes_.dim(sizes_.rank() - 1));
    for (int64_t d : hlo_[kLhsBatchDims]) result_dims_.push_back(lhs_.dim(d));
    for (int64_t d : LhsFree()) result_dims_.push_back(lhs_.dim(d));
    for (int64_t d = 0; d < rhs_.rank(); ++d)
      if (!Has(hlo_[kRhsBatchDims], d) && !Has(hlo_[kRhsContractingDims], d) && !Has(hlo_[RaggedDot::kRhsGroupDims], d))
        result_dims_.push_back(rhs_.dim(d));
    return AsInts(result_dims_);
  }

  // In the order in which the group sizes have them: batch, then what is of the ragged dimension's kind.
  void ListOuterDims() {
    outer_ = ToDims(hlo_[kLhsBatchDims]);
    const Dims free = LhsFree();
    for (int64_t d : contracting_ ? hlo_[kLhsContractingDims] : AsInts(free))
      if (d != ragged_) outer_.push_back(d);
  }

  // Restricts all three to index `at` of a dimension of the lhs.
  void TakeOuter(int64_t dim, int64_t at, Box& lhs, Box& rhs, Box& result) const {
    lhs.Take(dim, at, 1);
    const int64_t first = contracting_ ? 1 : 0;
    const Ints batch = hlo_[kLhsBatchDims], contracting = hlo_[kLhsContractingDims];
    const auto b = std::find(batch.begin(), batch.end(), dim) - batch.begin();
    const auto c = std::find(contracting.begin(), contracting.end(), dim) - contracting.begin();
    if (Has(batch, dim)) {
      rhs.Take(hlo_[kRhsBatchDims][static_cast<size_t>(b)], at, 1);
      result.Take(first + b, at, 1);
    } else if (Has(contracting, dim)) {
      rhs.Take(hlo_[kRhsContractingDims][static_cast<size_t>(c)], at, 1);
    } else {
      result.Take(first + ResultDimOfFree(dim), at, 1);
    }
  }

  int64_t ResultDimOfFree(int64_t dim) const {
    const Dims free = LhsFree();
    return static_cast<int64_t>(hlo_[kLhsBatchDims].size()) + (std::find(free.begin(), free.end(), dim) - free.begin());
  }

  void AddGroup(int64_t row, int64_t group, int64_t start, int64_t end) {
    if (start >= end) return;
    Box lhs(lhs_), rhs(rhs_), result(total_);
    for (size_t i = outer_.size(); i-- > 0;) {
      const int64_t size = sizes_.dim(static_cast<int64_t>(i));
      TakeOuter(outer_[i], row % size, lhs, rhs, result);
      row /= size;
    }
    lhs.Take(ragged_, start, end - start);
    if (contracting_) {
      const Ints dims = hlo_[kLhsContractingDims];
      const auto at = static_cast<size_t>(std::find(dims.begin(), dims.end(), ragged_) - dims.begin());
      rhs.Take(hlo_[kRhsContractingDims][at], start, end - start);
      result.Take(0, group, 1);
    } else {
      rhs.Take(hlo_[RaggedDot::kRhsGroupDims][0], group, 1);
      result.Take(ResultDimOfFree(ragged_), start, end - start);
    }
    const ProductDims dims{hlo_[kLhsBatchDims], hlo_[kRhsBatchDims], hlo_[kLhsContractingDims],
                           hlo_[kRhsContractingDims]};
    const Array part = Product(Part(lhs_, lhs), Part(rhs_, rhs), dims, total_.type());
    if (part.count() == ElementCount(AsInts(result.sizes))) AddPart(total_, result, part);
  }

  const Instruction& hlo_;
  const Array& lhs_;
  const Array& rhs_;
  const Array& sizes_;
  const int64_t ragged_;
  const bool contracting_;
  Dims result_dims_;
  Dims outer_;  // dimensions of the lhs
  Array total_;
};

}  // namespace

// Groups along a batch dimension change nothing.
template <>
Result<Value> Evaluate<Opcode::kRaggedDot>(Call& call) {
  const Instruction& hlo = call.hlo;
  const ElementType type = hlo.shape().element_type();
  if (Has(hlo[kLhsBatchDims], hlo[RaggedDot::kLhsRaggedDims][0])) {
    const ProductDims dims{hlo[kLhsBatchDims], hlo[kRhsBatchDims], hlo[kLhsContractingDims], hlo[kRhsContractingDims]};
    return Value(Product(call.array(0), call.array(1), dims, type));
  }
  for (size_t i = 0; i < 3; ++i)
    if (!std::equal(call.array(i).dims().begin(), call.array(i).dims().end(), hlo.operand_shape(i).dims().begin()))
      return Stopped(hlo, StrCat("operands of ragged-dot must have their full sizes, got ", ToString(call.array(i))));
  const Array total = Groups(call).Run();
  return Value(total.type() == type ? total : Converted(total, type));
}

}  // namespace shoal
