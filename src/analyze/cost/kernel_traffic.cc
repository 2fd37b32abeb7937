#include "analyze/cost/kernel_traffic.h"

#include <algorithm>
#include <array>

#include "analyze/cost/embedded.h"
#include "core/ops/families.h"
#include "yaml-cpp/yaml.h"

namespace shoal::internal {
namespace {

bool ReadsPartOf(const Instruction& hlo) {
  return hlo.opcode == Opcode::kSlice || hlo.opcode == Opcode::kDynamicSlice || hlo.opcode == Opcode::kGather;
}

bool IsTransparent(const Instruction& hlo) {
  return hlo.opcode == Opcode::kBitcast || hlo.opcode == Opcode::kReshape || hlo.opcode == Opcode::kConvert;
}

double WindowElements(const Instruction& hlo) {
  const Window* window = hlo[kWindow];
  double elements = 1;
  if (window != nullptr)
    for (const WindowDim& dim : window->dims) elements *= static_cast<double>(dim.size);
  return elements;
}

// The share of its operand `i` that `user` needs when `need` of itself is needed.
double ShareOfOperand(const Instruction& user, size_t i, double need, bool user_is_root) {
  if (user.opcode == Opcode::kTuple) return 1;
  if (user.opcode == Opcode::kGetTupleElement)
    return need * DataBytes(user.shape()) / std::max(1.0, DataBytes(user.operand_shape(0)));
  if (ReadsPartOf(user))
    return i > 0 ? 1 : need * ElementsOf(user.shape()) / std::max(1.0, ElementsOf(user.operand_shape(0)));
  if (IsInPlaceUpdate(user))
    return i > 0 ? 1 : user_is_root || user.opcode == Opcode::kScatter ? 0 : need;
  if (user.opcode == Opcode::kPad && i > 0) return 1;
  if (user.opcode == Opcode::kReduceWindow) return std::min(1.0, need * WindowElements(user));
  return need;
}

// Instructions of a machine that an element of an op takes.
const std::array<double, kOpcodeCount + 1>& InstructionTable() {
  static const auto table = [] {
    std::array<double, kOpcodeCount + 1> made;
    made.fill(1);
    for (int i = 0; i < kOpcodeCount; ++i) {
      const OpClass op_class = Info(static_cast<Opcode>(i)).op_class;
      const bool computes = op_class == OpClass::kElementwise || op_class == OpClass::kRandom;
      if (!computes) made[static_cast<size_t>(i)] = 0;
    }
    const YAML::Node given = YAML::Load(std::string(EmbeddedFile("fitted/kernels.yaml")))["instructions"];
    for (const auto& pair : given)
      if (const auto opcode = ParseOpcode(pair.first.as<std::string>()))
        made[static_cast<size_t>(*opcode)] = pair.second.as<double>();
    return made;
  }();
  return table;
}

double WrittenBy(const Instruction& root) {
  const Instruction& behind = BehindConverts(root);
  return DataBytes(IsInPlaceUpdate(behind) ? UpdateOf(behind).shape() : root.shape());
}

}  // namespace

double ElementsOf(const Shape& shape) {
  if (shape.IsTuple()) {
    double most = 0;
    for (const Shape* element : shape.elements()) most = std::max(most, ElementsOf(*element));
    return most;
  }
  return shape.IsArray() ? static_cast<double>(shape.ElementCount().value_or(0)) : 0;
}

double DataBytes(const Shape& shape) {
  if (shape.IsTuple()) {
    double sum = 0;
    for (const Shape* element : shape.elements()) sum += DataBytes(*element);
    return sum;
  }
  if (!shape.IsArray()) return 0;
  return ElementsOf(shape) * std::max(1, BitWidth(shape.element_type())) / 8;
}

const Instruction& BehindConverts(const Instruction& root) {
  const Instruction* hlo = &root;
  while (IsTransparent(*hlo) && !hlo->operands.empty() && hlo->operands[0]->opcode != Opcode::kParameter)
    hlo = hlo->operands[0];
  return *hlo;
}

bool IsInPlaceUpdate(const Instruction& hlo) {
  return (hlo.opcode == Opcode::kDynamicUpdateSlice && hlo.operand_count() >= 2) ||
         (hlo.opcode == Opcode::kScatter && hlo.operand_count() >= 3);
}

const Instruction& UpdateOf(const Instruction& hlo) {
  return hlo.opcode == Opcode::kScatter ? *hlo.operands.back() : *hlo.operands[1];
}

FusionRegion ViewOf(const Computation& fused) {
  FusionRegion view;
  view.body.assign(fused.instructions.begin(), fused.instructions.end());
  for (const Instruction* parameter : fused.parameters) view.inputs.push_back(parameter);
  if (fused.root == nullptr) return view;
  if (fused.root->opcode == Opcode::kTuple)
    view.roots.assign(fused.root->operands.begin(), fused.root->operands.end());
  else
    view.roots.push_back(fused.root);
  return view;
}

FusionRegion ViewOf(std::span<const Instruction* const> body, std::span<const Instruction* const> roots) {
  FusionRegion view;
  view.body.assign(body.begin(), body.end());
  view.roots.assign(roots.begin(), roots.end());
  absl::flat_hash_map<const Instruction*, bool> seen;
  for (const Instruction* hlo : body) seen[hlo] = true;
  for (const Instruction* hlo : body)
    for (const Instruction* operand : hlo->operands)
      if (!std::exchange(seen[operand], true)) view.inputs.push_back(operand);
  return view;
}

AccessedFractions::AccessedFractions(const FusionRegion& view) {
  for (const Instruction* root : view.roots) shares_[root] = 1;
  for (auto hlo = view.body.rbegin(); hlo != view.body.rend(); ++hlo) {
    const double need = Of(**hlo);
    const bool is_root = std::find_if(view.roots.begin(), view.roots.end(), [&](const Instruction* root) {
                           return root == *hlo || &BehindConverts(*root) == *hlo;
                         }) != view.roots.end();
    if (need == 0 && (*hlo)->opcode != Opcode::kTuple) continue;
    for (size_t i = 0; i < (*hlo)->operands.size(); ++i) {
      double& share = shares_[(*hlo)->operands[i]];
      const double more = ShareOfOperand(**hlo, i, need, is_root);
      // Two slices of one operand read different parts of it.
      share = std::min(1.0, ReadsPartOf(**hlo) && i == 0 ? share + more : std::max(share, more));
    }
  }
}

double InstructionsOf(const Instruction& hlo) {
  double count = InstructionTable()[static_cast<size_t>(hlo.opcode)];
  if (hlo.shape().IsArray() && hlo.shape().element_type() == ElementType::kF64) count *= count > 4 ? 4 : 2;
  return count;
}

void MeasureTraffic(const FusionRegion& view, KernelDescriptor& kernel) {
  const AccessedFractions needed(view);
  for (const Instruction* input : view.inputs)
    kernel.reads.push_back(input == nullptr ? 0 : DataBytes(input->shape()) * needed.Of(*input));
  for (const Instruction* root : view.roots) {
    kernel.written += WrittenBy(*root);
    const Instruction& behind = BehindConverts(*root);
    if (IsInPlaceUpdate(behind)) {
      const Instruction& buffer = BehindConverts(*behind.operands[0]);
      const auto input = std::find(view.inputs.begin(), view.inputs.end(),
                                   IsTransparent(buffer) && !buffer.operands.empty() ? buffer.operands[0] : &buffer);
      if (input != view.inputs.end()) kernel.in_place = static_cast<int>(input - view.inputs.begin());
    }
    kernel.elements = std::max(kernel.elements, ElementsOf(root->shape()));
    if (root->shape().IsArray())
      kernel.element_bytes = DataBytes(root->shape()) / std::max(1.0, ElementsOf(root->shape()));
  }
  kernel.source_elements = kernel.elements;
  for (const Instruction* hlo : view.body) {
    const double share = needed.Of(*hlo);
    if (hlo->opcode == Opcode::kReduce && !hlo->operands.empty()) {
      const double source = ElementsOf(hlo->operand_shape(0));
      kernel.instructions += source * share;
      kernel.source_elements = std::max(kernel.source_elements, source);
      ++kernel.reductions;
    } else if (hlo->opcode == Opcode::kReduceWindow) {
      const double window = WindowElements(*hlo);
      kernel.window = std::max(kernel.window, window);
      kernel.instructions += ElementsOf(hlo->shape()) * share * window * InstructionsOf(*hlo);
    } else {
      kernel.instructions += ElementsOf(hlo->shape()) * share * InstructionsOf(*hlo);
    }
    if (IsInPlaceUpdate(*hlo)) kernel.elements = ElementsOf(UpdateOf(*hlo).shape());
  }
}

}  // namespace shoal::internal
