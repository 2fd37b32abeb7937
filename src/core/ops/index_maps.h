// Index maps of ops that only move elements: Map computes the operand's index j from an index i of the result, one
// entry per dimension. It uses a builder `b` that adds, multiplies, and computes quotients and remainders.
#pragma once

#include "core/ops/index_ops.h"

namespace shoal::internal {

template <Opcode>
struct IndexMapOf;  // only for the ops below, in which each element of the result is an element of operand 0

// broadcast: j[d] = i[dimensions[d]].
template <>
struct IndexMapOf<Opcode::kBroadcast> {
  template <class B, class I>
  static I Map(B&, const Instruction& hlo, const I& index) {
    I operand;
    const Ints dimensions = hlo[kDimensions];
    for (size_t d = 0; d < dimensions.size(); ++d) operand.push_back(index[static_cast<size_t>(dimensions[d])]);
    return operand;
  }
};

// copy: j = i.
template <>
struct IndexMapOf<Opcode::kCopy> {
  template <class B, class I>
  static I Map(B&, const Instruction&, const I& index) {
    return index;
  }
};

// reshape: i and j have the same row-major linear index.
template <>
struct IndexMapOf<Opcode::kReshape> {
  template <class B, class I>
  static I Map(B& b, const Instruction& hlo, const I& index) {
    return b.Delinearize(b.Linearize(index, hlo.shape().dims()), hlo.operand_shape(0).dims());
  }
};

// bitcast between row-major arrays of the same type: a reshape.
template <>
struct IndexMapOf<Opcode::kBitcast> : IndexMapOf<Opcode::kReshape> {};

// reverse: j[d] = size(d) - 1 - i[d] for d in dimensions.
template <>
struct IndexMapOf<Opcode::kReverse> {
  template <class B, class I>
  static I Map(B& b, const Instruction& hlo, I index) {
    for (int64_t d : hlo[kDimensions]) {
      auto& entry = index[static_cast<size_t>(d)];
      entry = b.Add(b.Int(hlo.shape().dim(d) - 1), b.Multiply(entry, -1));
    }
    return index;
  }
};

// slice: j[d] = start[d] + i[d] * stride[d].
template <>
struct IndexMapOf<Opcode::kSlice> {
  template <class B, class I>
  static I Map(B& b, const Instruction& hlo, I index) {
    const auto ranges = hlo[Op<Opcode::kSlice>::kSlice];
    for (size_t d = 0; d < ranges.size(); ++d)
      index[d] = b.Add(b.Int(ranges[d].start), b.Multiply(index[d], ranges[d].stride));
    return index;
  }
};

// transpose: j[dimensions[d]] = i[d].
template <>
struct IndexMapOf<Opcode::kTranspose> {
  template <class B, class I>
  static I Map(B&, const Instruction& hlo, const I& index) {
    I operand = index;
    const Ints dimensions = hlo[kDimensions];
    for (size_t d = 0; d < dimensions.size(); ++d) operand[static_cast<size_t>(dimensions[d])] = index[d];
    return operand;
  }
};

// The map of an op, over a builder and an index type; null for ops without one.
template <class B, class I>
using IndexMapFunction = I (*)(B& b, const Instruction& hlo, const I& index);
template <class B, class I, Opcode op>
constexpr IndexMapFunction<B, I> MapOfOpcode() {
  if constexpr (requires { sizeof(IndexMapOf<op>); })
    return [](B& b, const Instruction& hlo, const I& index) -> I { return IndexMapOf<op>::Map(b, hlo, index); };
  return nullptr;
}
template <class B, class I>
IndexMapFunction<B, I> FindIndexMap(Opcode opcode) {
  static constexpr IndexMapFunction<B, I> kMaps[] = {
#define OP(Name, text, arity) MapOfOpcode<B, I, Opcode::k##Name>(),
#include "core/ops/ops.def"
#undef OP
      nullptr};
  return kMaps[static_cast<size_t>(opcode)];
}

}  // namespace shoal::internal
