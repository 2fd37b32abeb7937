// Functions that create kernel nodes, for kernels that are not built from a fusion.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core/ir/shape.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

inline IndexExpr Linearized(const std::vector<IndexExpr>& index, Ints dims) {
  IndexExpr offset;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= dims[d]) offset = offset + index[d] * stride;
  return offset;
}

inline KernelNode LoadOf(int input, ElementType type, IndexExpr index) {
  KernelNode node;
  node.kind = KernelNode::Kind::kLoad;
  node.type = type;
  node.input = input;
  node.index = std::move(index);
  return node;
}

inline KernelNode ConstantOf(ElementType type, uint64_t bits) {
  KernelNode node;
  node.kind = KernelNode::Kind::kConstant;
  node.type = type;
  node.bits[0] = bits;
  return node;
}

inline KernelNode ApplyOf(Opcode opcode, ElementType type, std::initializer_list<int> operands) {
  KernelNode node;
  node.opcode = opcode;
  node.type = type;
  std::copy(operands.begin(), operands.end(), node.operands);
  return node;
}

inline int Add(FusedKernel& kernel, KernelNode node) {
  kernel.nodes.push_back(std::move(node));
  return static_cast<int>(kernel.nodes.size()) - 1;
}

}  // namespace shoal::internal
