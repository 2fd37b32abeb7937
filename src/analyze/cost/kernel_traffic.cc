#include "analyze/cost/kernel_traffic.h"

#include <algorithm>
#include <array>

#include "analyze/cost/embedded.h"
#include "core/ops/families.h"
#include "yaml-cpp/yaml.h"

namespace shoal::internal {
namespace {

bool ReadsPartOfOperand(const Instruction& hlo) {
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

// The fraction of operand `i` that `user` must access to compute the fraction `accessed` of its result.
double AccessedOperandFraction(const Instruction& user, size_t i, double accessed, bool user_is_root) {
  if (user.opcode == Opcode::kTuple) return 1;
  if (user.opcode == Opcode::kGetTupleElement)
    return accessed * DataBytes(user.shape()) / std::max(1.0, DataBytes(user.operand_shape(0)));
  if (ReadsPartOfOperand(user))
    return i > 0 ? 1 : accessed * ElementsOf(user.shape()) / std::max(1.0, ElementsOf(user.operand_shape(0)));
  if (IsInPlaceUpdate(user))
    return i > 0 ? 1 : user_is_root || user.opcode == Opcode::kScatter ? 0 : accessed;
  if (user.opcode == Opcode::kPad && i > 0) return 1;
  if (user.opcode == Opcode::kReduceWindow) return std::min(1.0, accessed * WindowElements(user));
  return accessed;
}

const std::array<double, kOpcodeCount + 1>& InstructionsByOpcode() {
  static const auto table = [] {
    std::array<double, kOpcodeCount + 1> counts;
    counts.fill(1);
    for (int i = 0; i < kOpcodeCount; ++i) {
      const OpClass op_class = Info(static_cast<Opcode>(i)).op_class;
      const bool computes = op_class == OpClass::kElementwise || op_class == OpClass::kRandom;
      if (!computes) counts[static_cast<size_t>(i)] = 0;
    }
    const YAML::Node fitted = YAML::Load(std::string(EmbeddedFile("fitted/kernels.yaml")))["instructions"];
    for (const auto& pair : fitted)
      if (const auto opcode = ParseOpcode(pair.first.as<std::string>()))
        counts[static_cast<size_t>(*opcode)] = pair.second.as<double>();
    return counts;
  }();
  return table;
}

double WrittenBytes(const Instruction& root) {
  const Instruction& source = TraceThroughConverts(root);
  return DataBytes(IsInPlaceUpdate(source) ? UpdateOf(source).shape() : root.shape());
}

}  // namespace

double ElementsOf(const Shape& shape) {
  if (shape.IsTuple()) {
    double largest = 0;
    for (const Shape* element : shape.elements()) largest = std::max(largest, ElementsOf(*element));
    return largest;
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

const Instruction& TraceThroughConverts(const Instruction& root) {
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

FusionRegion MakeFusionRegion(const Computation& fused) {
  FusionRegion region;
  region.body.assign(fused.instructions.begin(), fused.instructions.end());
  for (const Instruction* parameter : fused.parameters) region.inputs.push_back(parameter);
  if (fused.root == nullptr) return region;
  if (fused.root->opcode == Opcode::kTuple)
    region.roots.assign(fused.root->operands.begin(), fused.root->operands.end());
  else
    region.roots.push_back(fused.root);
  return region;
}

FusionRegion MakeFusionRegion(std::span<const Instruction* const> body, std::span<const Instruction* const> roots) {
  FusionRegion region;
  region.body.assign(body.begin(), body.end());
  region.roots.assign(roots.begin(), roots.end());
  absl::flat_hash_map<const Instruction*, bool> seen;
  for (const Instruction* hlo : body) seen[hlo] = true;
  for (const Instruction* hlo : body)
    for (const Instruction* operand : hlo->operands)
      if (!std::exchange(seen[operand], true)) region.inputs.push_back(operand);
  return region;
}

AccessedFractions::AccessedFractions(const FusionRegion& region) {
  for (const Instruction* root : region.roots) fractions_[root] = 1;
  for (auto hlo = region.body.rbegin(); hlo != region.body.rend(); ++hlo) {
    const double accessed = Of(**hlo);
    const bool is_root = std::find_if(region.roots.begin(), region.roots.end(), [&](const Instruction* root) {
                           return root == *hlo || &TraceThroughConverts(*root) == *hlo;
                         }) != region.roots.end();
    if (accessed == 0 && (*hlo)->opcode != Opcode::kTuple) continue;
    for (size_t i = 0; i < (*hlo)->operands.size(); ++i) {
      double& fraction = fractions_[(*hlo)->operands[i]];
      const double added = AccessedOperandFraction(**hlo, i, accessed, is_root);
      // Assume that two slices of one operand read disjoint parts.
      fraction = std::min(1.0, ReadsPartOfOperand(**hlo) && i == 0 ? fraction + added : std::max(fraction, added));
    }
  }
}

double InstructionsPerElement(const Instruction& hlo) {
  double count = InstructionsByOpcode()[static_cast<size_t>(hlo.opcode)];
  if (hlo.shape().IsArray() && hlo.shape().element_type() == ElementType::kF64) count *= count > 4 ? 4 : 2;
  return count;
}

void MeasureTraffic(const FusionRegion& region, KernelDescriptor& kernel) {
  const AccessedFractions accessed(region);
  for (const Instruction* input : region.inputs)
    kernel.reads.push_back(input == nullptr ? 0 : DataBytes(input->shape()) * accessed.Of(*input));
  for (const Instruction* root : region.roots) {
    kernel.written += WrittenBytes(*root);
    const Instruction& source = TraceThroughConverts(*root);
    if (IsInPlaceUpdate(source)) {
      const Instruction& buffer = TraceThroughConverts(*source.operands[0]);
      const auto input = std::find(region.inputs.begin(), region.inputs.end(),
                                   IsTransparent(buffer) && !buffer.operands.empty() ? buffer.operands[0] : &buffer);
      if (input != region.inputs.end()) kernel.in_place = static_cast<int>(input - region.inputs.begin());
    }
    kernel.elements = std::max(kernel.elements, ElementsOf(root->shape()));
    if (root->shape().IsArray())
      kernel.element_bytes = DataBytes(root->shape()) / std::max(1.0, ElementsOf(root->shape()));
  }
  kernel.source_elements = kernel.elements;
  for (const Instruction* hlo : region.body) {
    const double fraction = accessed.Of(*hlo);
    if (hlo->opcode == Opcode::kReduce && !hlo->operands.empty()) {
      const double source = ElementsOf(hlo->operand_shape(0));
      kernel.instructions += source * fraction;
      kernel.source_elements = std::max(kernel.source_elements, source);
      ++kernel.reductions;
    } else if (hlo->opcode == Opcode::kReduceWindow) {
      const double window = WindowElements(*hlo);
      kernel.window = std::max(kernel.window, window);
      kernel.instructions += ElementsOf(hlo->shape()) * fraction * window * InstructionsPerElement(*hlo);
    } else {
      kernel.instructions += ElementsOf(hlo->shape()) * fraction * InstructionsPerElement(*hlo);
    }
    if (IsInPlaceUpdate(*hlo)) kernel.elements = ElementsOf(UpdateOf(*hlo).shape());
  }
}

}  // namespace shoal::internal
