#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/op.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {
namespace {

using NodeKind = KernelNode::Kind;

void AppendNode(std::string& out, const KernelNode& node) {
  StrAppend(&out, Text(node.type), " ");
  switch (node.kind) {
    case NodeKind::kLoad:
      return StrAppend(&out, "in", node.input, "[", ToString(node.index), "]");
    case NodeKind::kConstant:
      StrAppend(&out, "constant 0x", Hex(node.bits[0]));
      if (node.bits[1] != 0) StrAppend(&out, ",0x", Hex(node.bits[1]));
      return;
    case NodeKind::kIndex:
      return StrAppend(&out, "index ", ToString(node.index));
    case NodeKind::kResult:
      return StrAppend(&out, "result ", node.reduction, ".", node.input);
    case NodeKind::kApply:
      break;
  }
  StrAppend(&out, Text(node.opcode));
  if (node.opcode == Opcode::kCompare)
    StrAppend(&out, " ", EnumNames<ComparisonDirection>::kNames[static_cast<size_t>(node.direction)],
              node.total_order ? " total" : "");
  if (node.opcode == Opcode::kReducePrecision) StrAppend(&out, " ", node.bits[0], ",", node.bits[1]);
  for (int operand : node.operands)
    if (operand >= 0) StrAppend(&out, " n", operand);
}

void AppendTypes(std::string& out, const std::vector<ElementType>& types) {
  for (size_t i = 0; i < types.size(); ++i) StrAppend(&out, i == 0 ? "" : ", ", Text(types[i]));
}

}  // namespace

int64_t KernelComputation::RowCount() const {
  int64_t count = 1;
  for (int64_t iterations : rows) count *= iterations;
  return count;
}

int64_t KernelComputation::InnerIterations() const {
  int64_t count = 1;
  for (int64_t iterations : inner_loops) count *= iterations;
  return count;
}

int KernelComputation::PassesPerRow() const {
  int passes = 0;
  for (const KernelReduction& reduction : reductions) passes = std::max(passes, reduction.stage + 1);
  const bool has_store_pass = std::any_of(stores.begin(), stores.end(), [](const KernelStore& store) { return !store.per_row; });
  return form == Form::kRows && has_store_pass ? passes + 1 : passes;
}

std::string ToString(const FusedKernel& kernel) {
  std::string out = StrCat(kernel.form == FusedKernel::Form::kRows ? "rows [" : "columns [", StrJoin(kernel.rows, ","),
                           "] x [", StrJoin(kernel.inner_loops, ","), "] (");
  AppendTypes(out, kernel.inputs);
  out += ") -> (";
  AppendTypes(out, kernel.outputs);
  out += ")";
  if (kernel.schedule.prefers_short_code) out += " edge";
  if (kernel.schedule.is_part) out += " part";
  if (kernel.contracts) out += " contracted";
  if (kernel.schedule.part_size != 0) StrAppend(&out, " in parts of ", kernel.schedule.part_size);
  out += "\n";
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    StrAppend(&out, "  n", i, " = ");
    AppendNode(out, kernel.nodes[i]);
    out += "\n";
  }
  for (const KernelReduction& reduction : kernel.reductions) {
    const bool is_function = reduction.kind == KernelReduction::Kind::kFunction;
    const char* form = reduction.kind == KernelReduction::Kind::kArgMinMax ? "first " : "";
    StrAppend(&out, "  reduce ", form, is_function ? "function" : Text(reduction.op));
    for (int element : reduction.elements) StrAppend(&out, " n", element);
    out += " from";
    for (int init : reduction.inits) StrAppend(&out, " n", init);
    if (reduction.stage != 0) StrAppend(&out, " in stage ", reduction.stage);
    if (reduction.is_element >= 0) StrAppend(&out, " where n", reduction.is_element);
    out += "\n";
    for (size_t i = 0; i < reduction.function.size(); ++i) {
      StrAppend(&out, "    n", i, " = ");
      AppendNode(out, reduction.function[i]);
      out += "\n";
    }
    for (int result : reduction.results) StrAppend(&out, "    result n", result, "\n");
  }
  for (const KernelStore& store : kernel.stores)
    StrAppend(&out, "  out", store.output, "[", ToString(store.index), "] = n", store.node, store.per_row ? " per row\n" : "\n");
  return out;
}

}  // namespace shoal::internal
