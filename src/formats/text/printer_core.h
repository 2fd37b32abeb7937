// Implements the printer: printer.cc (module, computations, instructions), attr_printer.cc (one function per kind of
// attribute) and attr_text.cc (attributes one by one). Private to formats/text.
#pragma once

#include <optional>
#include <string>

#include "core/ops/op.h"
#include "formats/text/attr_text.h"
#include "formats/text/canonical.h"
#include "formats/text/printer.h"

namespace shoal::internal {

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options)
      : module_(module), options_(options), names_(module), frames_(module) {}
  // Prints attributes only: does not compute names and stack frames.
  explicit Printer(const Module& module) : module_(module) {}
  // Prints names as they are written.
  static Printer AsWritten(const Module& module, const PrintOptions& options) {
    return Printer(module, options, /*as_written=*/true);
  }
  std::string Print();
  std::string PrintLines();
  void ForEachAttr(const Instruction& hlo, const AttrVisitor& visit);

 private:
  Printer(const Module& module, const PrintOptions& options, bool) : module_(module), options_(options) {}
  // ---- printer.cc
  std::string_view NameOf(const Instruction& hlo) const { return names_ ? (*names_)(hlo) : hlo.name; }
  std::string_view NameOf(const Computation& computation) const {
    return names_ ? (*names_)(computation) : computation.name;
  }
  void Header();
  void EntryLayoutText();
  void OriginRecoveryTable();
  void DebugAttributesTable();
  void StackFrameTables();
  void FindCallers();
  void PrintComputation(const Computation& computation);
  void PrintInstruction(const Instruction& hlo);
  void Operands(const Instruction& hlo);
  void Name(const Instruction& hlo);
  void Name(const Computation& computation);

  // ---- attr_printer.cc
  void Attributes(const Instruction& hlo);
  int32_t FrameId(int32_t id) const { return options_.renumber_frames && frames_ ? frames_->NewId(id) : id; }
  void CommonAttribute(const Instruction& hlo, const AttrDef& def);
  void OwnAttributes(const Instruction& hlo, std::span<const AttrDef> defs);
  void PrintAttr(const AttrDef& def, const AttrValue* value);
  bool IsShown(const Instruction& hlo, const AttrDef& def, const AttrValue* value) const;
  bool IsCommonShown(const Instruction& hlo, const AttrDef& def, const AttrValue* value) const;
  void Value(const AttrDef& def, const AttrValue& value);
  void DefaultValue(const AttrDef& def);
  void String(std::string_view text);
  static std::string_view WithoutObsoleteFields(std::string_view text, std::string& storage);
  void StringOrJson(std::string_view text);
  void PrintFrontendAttributes(std::span<const FrontendAttribute> attributes);
  void MetadataText(const Metadata& metadata);
  void WindowText(const Window& window);
  void DimLabels(const ConvDims& dims);
  void SliceRanges(std::span<const SliceRange> ranges);
  void Padding(std::span<const PaddingDim> dims);
  void Aliasing(std::span<const OutputOperandAlias> aliases);
  void Origin(const OriginalValue& value);
  void Accuracy(const ResultAccuracy& accuracy);
  void Sparsity(const SparsityConfig& config);

  const Module& module_;
  const PrintOptions options_ = {};
  std::optional<CanonicalNames> names_;
  std::optional<CanonicalFrames> frames_;
  absl::flat_hash_map<const Computation*, bool> async_;  // computations wrapped by an async-start
  std::string out_;
};

}  // namespace shoal::internal
