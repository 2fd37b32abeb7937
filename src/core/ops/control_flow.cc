#include "core/ops/control_flow.h"

#include <algorithm>
#include <charconv>

#include "core/ops/callee.h"

namespace shoal::internal {
namespace {

const std::string_view* FindFrontendAttribute(const Instruction& hlo, std::string_view name) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == name) return &attribute.value;
  return nullptr;
}

// Rules C3 to C5: the frontend attributes of a composite call.
Status CheckComposite(const Instruction& hlo) {
  const std::string_view* name = FindFrontendAttribute(hlo, "composite.name");
  if (name == nullptr || name->empty())
    return Broken(hlo, "C3", "a composite call must have a frontend attribute composite.name, got none");
  const std::string_view* attributes = FindFrontendAttribute(hlo, "composite.attributes");
  if (attributes != nullptr && attributes->empty())
    return Broken(hlo, "C4", "composite.attributes must be a dictionary such as {}, got an empty string");
  const std::string_view* version = FindFrontendAttribute(hlo, "composite.version");
  if (version == nullptr) return {};
  int64_t number = -1;
  const char* end = version->data() + version->size();
  const auto [rest, error] = std::from_chars(version->data(), end, number);
  if (error != std::errc() || rest != end || number < 0)
    return Broken(hlo, "C5", StrCat("composite.version must be 0 or more, got \"", *version, "\""));
  return {};
}

// Checks that the operands of `hlo`, starting at operand `first`, match the parameters of `callee`.
Status CheckArguments(const Instruction& hlo, std::string_view key, const Signature& callee, size_t first,
                      std::string_view rule) {
  for (size_t i = 0; i < callee.parameters.size(); ++i)
    if (!Compatible(hlo.operand_shape(first + i), *callee.parameters[i]))
      return Broken(hlo, rule,
                    StrCat("operand ", first + i, " must be ", Str(*callee.parameters[i]), " for parameter ", i, " of ",
                           key, ", got ", Str(hlo.operand_shape(first + i))));
  return {};
}

Status CheckOneParameter(const Instruction& hlo, std::string_view key, const Signature& callee, std::string_view rule) {
  if (callee.parameters.size() == 1) return {};
  return Broken(hlo, rule, StrCat(key, " must take 1 parameter, got ", callee.parameters.size()));
}

}  // namespace

ShapeResult Op<Opcode::kCall>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_ASSIGN(callee, SignatureOf(hlo, kToApply));
  if (callee.parameters.size() != hlo.operand_count())
    return Broken(hlo, "C1",
                  StrCat("to_apply must take ", Count(hlo.operand_count(), "parameter"), ", one per operand, got ",
                         callee.parameters.size()));
  SHOAL_TRY(CheckArguments(hlo, "to_apply", callee, 0, "C2"));
  if (hlo[kIsComposite]) SHOAL_TRY(CheckComposite(hlo));
  return callee.result;
}

namespace {

using Conditional = Op<Opcode::kConditional>;

struct Branch {
  std::string key;  // name for messages
  Computation* computation;
};

std::vector<Branch> BranchesOf(const Instruction& hlo) {
  if (Conditional::HasPredicate(hlo))
    return {{"true_computation", hlo[Conditional::kTrueComputation]},
            {"false_computation", hlo[Conditional::kFalseComputation]}};
  std::vector<Branch> branches;
  for (Computation* computation : hlo[Conditional::kBranchComputations])
    branches.push_back({StrCat("branch ", branches.size()), computation});
  return branches;
}

// Rules C1 to C4.
Status CheckBranching(const Instruction& hlo) {
  if (hlo.operand_count() == 0) return Broken(hlo, "C1", "takes at least one operand, got 0");
  const Shape& index = hlo.operand_shape(0);
  const bool by_predicate = Conditional::HasPredicate(hlo);
  if (!by_predicate && !(index.IsScalar() && index.element_type() == ElementType::kS32))
    return Broken(hlo, "C2", StrCat("operand 0 must be pred[] or s32[], got ", Str(index)));
  const bool by_name = hlo.has(Conditional::kTrueComputation) || hlo.has(Conditional::kFalseComputation);
  if (by_predicate ? hlo.has(Conditional::kBranchComputations) : by_name)
    return Broken(hlo, "C3",
                  by_predicate ? "a predicate requires true_computation and false_computation, got branch_computations"
                               : "an index requires branch_computations, got true_computation");
  const size_t branches = BranchesOf(hlo).size();
  if (branches == 0 || hlo.operand_count() != branches + 1)
    return Broken(hlo, "C4",
                  StrCat("takes an index and one operand per branch, got ", branches,
                         branches == 1 ? " branch" : " branches", " and ", Count(hlo.operand_count(), "operand")));
  return {};
}

// The shape `a`; a dimension is dynamic if it is dynamic in `a` or `b`. Precondition: the shapes are compatible.
const Shape* MergeDynamic(const Shape& a, const Shape& b, ShapePool& shapes) {
  if (a.IsTuple()) {
    std::vector<const Shape*> parts;
    for (size_t i = 0; i < a.elements().size(); ++i)
      parts.push_back(MergeDynamic(*a.elements()[i], *b.elements()[i], shapes));
    return shapes.Tuple(parts);
  }
  if (!a.IsArray() || !b.has_dynamic()) return &a;
  const auto dynamic = std::make_unique<bool[]>(static_cast<size_t>(a.rank()));
  for (int i = 0; i < a.rank(); ++i) dynamic[static_cast<size_t>(i)] = a.is_dynamic(i) || b.is_dynamic(i);
  return shapes.Array(a.element_type(), a.dims(), dynamic.get(), a.layout());
}

}  // namespace

bool Op<Opcode::kConditional>::HasPredicate(const Instruction& hlo) {
  if (hlo.operands.empty() || hlo.operands[0]->shape_ == nullptr) return false;
  const Shape& index = hlo.operand_shape(0);
  return index.IsScalar() && index.element_type() == ElementType::kPred;
}

Status Op<Opcode::kConditional>::Normalize(Instruction& hlo, Module&) { return CheckBranching(hlo); }

ShapeResult Op<Opcode::kConditional>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(CheckBranching(hlo));
  const Shape* result = nullptr;
  const std::vector<Branch> branches = BranchesOf(hlo);
  for (size_t i = 0; i < branches.size(); ++i) {
    SHOAL_ASSIGN(callee, SignatureOf(hlo, branches[i].key, branches[i].computation));
    SHOAL_TRY(CheckOneParameter(hlo, branches[i].key, callee, "C5"));
    SHOAL_TRY(CheckArguments(hlo, branches[i].key, callee, i + 1, "C6"));
    if (result != nullptr && !Compatible(*result, *callee.result))
      return Broken(
          hlo, "C7",
          StrCat("all branches must return the same shape, got ", Str(*result), " and ", Str(*callee.result)));
    result = result == nullptr ? callee.result : MergeDynamic(*result, *callee.result, shapes);
  }
  return result;
}

Status Op<Opcode::kWhile>::Normalize(Instruction& hlo, Module&) {
  auto find = [&](uint32_t id) {
    return std::find_if(hlo.attrs.begin(), hlo.attrs.end(), [id](const NamedAttr& attr) { return attr.id == id; });
  };
  auto condition = find(kCondition.id), body = find(kBody.id);
  if (condition < body && body != hlo.attrs.end()) std::swap(*condition, *body);
  return {};
}

ShapeResult Op<Opcode::kWhile>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Shape& init = hlo.operand_shape(0);
  SHOAL_ASSIGN(condition, SignatureOf(hlo, kCondition));
  SHOAL_ASSIGN(body, SignatureOf(hlo, kBody));
  SHOAL_TRY(CheckOneParameter(hlo, "condition", condition, "C1"));
  SHOAL_TRY(CheckOneParameter(hlo, "body", body, "C2"));
  SHOAL_TRY(CheckArguments(hlo, "condition", condition, 0, "C3"));
  SHOAL_TRY(CheckArguments(hlo, "body", body, 0, "C4"));
  if (!Compatible(*condition.result, *shapes.Scalar(ElementType::kPred)))
    return Broken(hlo, "C5", StrCat("condition must return pred[], got ", Str(*condition.result)));
  if (!Compatible(*body.result, init))
    return Broken(hlo, "C6", StrCat("body must return its parameter's shape ", Str(init), ", got ", Str(*body.result)));
  return &init;
}

// A fusion may have more operands than its computation uses.
ShapeResult Op<Opcode::kFusion>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_ASSIGN(callee, SignatureOf(hlo, kCalls));
  if (callee.parameters.size() > hlo.operand_count())
    return Broken(hlo, "C1",
                  StrCat("calls must take at most ", Count(hlo.operand_count(), "parameter"), ", one per operand, got ",
                         callee.parameters.size()));
  SHOAL_TRY(CheckArguments(hlo, "calls", callee, 0, "C2"));
  SHOAL_TRY(CheckAliasing(hlo, {"C3", "C4", "C5"}));
  return callee.result;
}

}  // namespace shoal::internal
