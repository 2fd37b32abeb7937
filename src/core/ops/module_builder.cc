#include "core/ops/module_builder.h"

#include <charconv>

#include "core/base/strings.h"
#include "core/ops/order.h"
#include "core/ops/rules.h"
#include "core/ops/structure.h"

namespace shoal::internal {
namespace {

// Checks what the op's own rules presuppose: the number of operands and the required attributes.
Status CheckForm(const Instruction& hlo, const OpInfo& op) {
  if (op.arity >= 0) SHOAL_TRY(OperandCount(hlo, static_cast<size_t>(op.arity)));
  for (const AttrDef& def : op.attrs) {
    if (!def.required || hlo.Find(def.id) != nullptr) continue;
    if (def.not_required_if != nullptr && def.not_required_if(hlo)) continue;
    return Fail(hlo.at, "loose.missing-attribute", StrCat(op.text, " needs the attribute ", def.name));
  }
  return {};
}

}  // namespace

std::string_view ModuleBuilder::UniqueName(std::string_view base) {
  const int32_t number = counts_[std::string(base)]++;
  return module_.arena.CopyString(number == 0 ? std::string(base) : StrCat(base, ".", number));
}

// Names after an op are numbered without a hash table: most names are of this kind.
std::string_view ModuleBuilder::UniqueName(Opcode opcode, std::string_view base) {
  char name[64];
  if (base.size() > sizeof(name) - 12) return UniqueName(base);
  char* end = std::copy(base.begin(), base.end(), name);
  *end++ = '.';
  end = std::to_chars(end, name + sizeof(name), ++opcode_counts_[static_cast<size_t>(opcode)]).ptr;
  return module_.arena.CopyString({name, static_cast<size_t>(end - name)});
}

Computation& ModuleBuilder::NewComputation(std::string_view name) {
  Computation* computation = module_.NewComputation(UniqueName(name));
  computation->at = at_;
  return *computation;
}

Instruction* ModuleBuilder::Append(Computation& computation, Opcode opcode, std::span<Instruction* const> operands,
                                   std::span<const NamedAttr> attrs, const Shape* shape, std::string_view name) {
  Instruction* hlo = module_.NewInstruction(computation);
  hlo->opcode = opcode;
  hlo->shape_ = shape;
  hlo->at = hlo->name_at = at_;
  hlo->name = name.empty() ? UniqueName(opcode, Text(opcode)) : UniqueName(name);
  hlo->operands = module_.arena.Copy(operands);
  const size_t count = attrs.size() + (metadata_ != nullptr ? 1 : 0);
  if (count == 0) return hlo;
  hlo->attrs = module_.arena.NewSpan<NamedAttr>(count);
  std::uninitialized_copy(attrs.begin(), attrs.end(), hlo->attrs.data());
  if (metadata_ != nullptr) new (&hlo->attrs[attrs.size()]) NamedAttr{kMetadata.id, metadata_};
  return hlo;
}

Instruction* ModuleBuilder::Parameter(Computation& computation, const Shape* shape, std::string_view name) {
  const NamedAttr number{kParameterNumber.id, static_cast<int64_t>(computation.parameters.size())};
  Instruction* parameter = Append(computation, Opcode::kParameter, {}, {&number, 1}, shape, name);
  computation.parameters.push_back(parameter);
  return parameter;
}

Result<Instruction*> ModuleBuilder::Add(Computation& computation, Opcode opcode,
                                        std::span<Instruction* const> operands, std::span<const NamedAttr> attrs,
                                        const Shape* shape, std::string_view name) {
  const OpInfo& op = Info(opcode);
  Instruction* hlo = Append(computation, opcode, operands, attrs, shape, name);
  auto infer = [&]() -> Status {
    SHOAL_TRY(CheckForm(*hlo, op));
    if (shape == nullptr && !op.infers_shape)
      return Fail(at_, "loose.shape", StrCat("the shape of ", op.text, " cannot be inferred"));
    SHOAL_TRY(op.form(*hlo, module_));
    SHOAL_ASSIGN(inferred, op.infer(*hlo, module_.shapes));
    if (hlo->shape_ == nullptr) hlo->shape_ = inferred;
    if (!Compatible(*inferred, hlo->shape()))
      return Fail(at_, "shape.C1",
                  StrCat("the inferred shape of ", op.text, " is ", Str(*inferred), ", but ", Str(hlo->shape()),
                         " is declared"));
    if (hlo->shape().LeafCount() >= kMaxLeaves)
      return Fail(at_, "", StrCat("a tuple can have at most ", kMaxLeaves - 1, " leaves"));
    return {};
  };
  Status formed = infer();
  if (formed.ok()) return hlo;
  computation.instructions.pop_back();
  return std::move(formed.diag());
}

Instruction* ModuleBuilder::Constant(Computation& computation, const Literal* value) {
  const NamedAttr attr{kConstantValue.id, value};
  return Append(computation, Opcode::kConstant, {}, {&attr, 1}, value->shape, {});
}

Instruction* ModuleBuilder::Tuple(Computation& computation, std::span<Instruction* const> elements) {
  std::vector<const Shape*> shapes;
  for (const Instruction* element : elements) shapes.push_back(element->shape_);
  return Append(computation, Opcode::kTuple, elements, {}, module_.shapes.Tuple(shapes), {});
}

Instruction* ModuleBuilder::GetTupleElement(Computation& computation, Instruction* tuple, int64_t index) {
  const NamedAttr attr{Op<Opcode::kGetTupleElement>::kIndex.id, index};
  Instruction* const operands[] = {tuple};
  return Append(computation, Opcode::kGetTupleElement, operands, {&attr, 1}, &tuple->shape().element(index), {});
}

void ModuleBuilder::Finish(Computation& computation, Instruction* root) {
  computation.root = root;
  module_.computations.push_back(&computation);
}

void ModuleBuilder::FinishModule(Computation& entry) {
  module_.entry = &entry;
  OrderInstructions(module_);
}

}  // namespace shoal::internal
