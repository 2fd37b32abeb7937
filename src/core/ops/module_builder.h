// Builds a module instruction by instruction. Each instruction is checked like one that a reader has read: the number
// of operands, the required attributes, the rules of XLA's parser (Normalize), and shape inference.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"
#include "core/ops/op.h"

namespace shoal::internal {

// The attributes of a new instruction.
class AttrList {
 public:
  template <class T>
  AttrList& Set(const Attr<T>& key, T value) {
    if constexpr (std::is_enum_v<T>) {
      attrs_.push_back({key.id, EnumValue{static_cast<uint8_t>(value)}});
    } else {
      attrs_.push_back({key.id, AttrValue(value)});
    }
    return *this;
  }
  AttrList& Add(NamedAttr attr) {
    attrs_.push_back(attr);
    return *this;
  }
  std::span<const NamedAttr> values() const { return attrs_; }

 private:
  std::vector<NamedAttr> attrs_;
};

class ModuleBuilder {
 public:
  explicit ModuleBuilder(Module& module) : module_(module) {}

  Module& module() { return module_; }
  ShapePool& shapes() { return module_.shapes; }

  // The text location and the metadata of the following instructions. `metadata` may be null.
  void SetOrigin(TextSpan at, const Metadata* metadata) {
    at_ = at;
    metadata_ = metadata;
  }

  // Starts a computation. Names of computations and instructions are made unique with a number: sum, sum.1, sum.2.
  Computation& NewComputation(std::string_view name);
  // The next parameter of the computation.
  Instruction* Parameter(Computation& computation, const Shape* shape, std::string_view name = {});
  // Appends an instruction. Its operands must be in the same computation, and the computations that it calls must be
  // finished. A null `shape` is inferred; any other must equal the inferred one except for layouts. An empty `name`
  // stands for the name of the op. The attributes are copied; values behind spans and pointers are not.
  Result<Instruction*> Add(Computation& computation, Opcode opcode, std::span<Instruction* const> operands,
                           std::span<const NamedAttr> attrs = {}, const Shape* shape = nullptr,
                           std::string_view name = {});
  Result<Instruction*> Add(Computation& computation, Opcode opcode, std::initializer_list<Instruction*> operands,
                           const AttrList& attrs = {}, const Shape* shape = nullptr, std::string_view name = {}) {
    return Add(computation, opcode, std::span(operands.begin(), operands.size()), attrs.values(), shape, name);
  }
  // Ops that cannot break a rule.
  Instruction* Constant(Computation& computation, const Literal* value);
  Instruction* Tuple(Computation& computation, std::span<Instruction* const> elements);
  Instruction* GetTupleElement(Computation& computation, Instruction* tuple, int64_t index);

  // Sets the root and adds the computation to the module.
  void Finish(Computation& computation, Instruction* root);
  // Sets the entry computation and orders the instructions of all computations as XLA does.
  void FinishModule(Computation& entry);

 private:
  Instruction* Append(Computation& computation, Opcode opcode, std::span<Instruction* const> operands,
                      std::span<const NamedAttr> attrs, const Shape* shape, std::string_view name);
  std::string_view UniqueName(std::string_view base);
  std::string_view UniqueName(Opcode opcode, std::string_view base);

  Module& module_;
  TextSpan at_;
  const Metadata* metadata_ = nullptr;
  std::array<int32_t, 256> opcode_counts_{};
  absl::flat_hash_map<std::string, int32_t> counts_;
};

}  // namespace shoal::internal
