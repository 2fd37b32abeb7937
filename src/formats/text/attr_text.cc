#include "formats/text/attr_text.h"

#include <algorithm>

#include "formats/text/printer_core.h"

namespace shoal::internal {
namespace {

constexpr AttrKind kOmittedKinds[] = {AttrKind::kMetadata,    AttrKind::kOriginalValue, AttrKind::kStatistics,
                                      AttrKind::kComputation, AttrKind::kComputations,  AttrKind::kInstructions};

bool IsOmitted(const AttrDef& def) {
  return std::find(std::begin(kOmittedKinds), std::end(kOmittedKinds), def.kind) != std::end(kOmittedKinds);
}

}  // namespace

void ForEachAttr(const Module& module, const Instruction& hlo, const AttrVisitor& visit) {
  if (!hlo.attrs.empty() || !Info(hlo.opcode).attrs.empty()) Printer(module).ForEachAttr(hlo, visit);
}

void Printer::ForEachAttr(const Instruction& hlo, const AttrVisitor& visit) {
  auto print = [&](const AttrDef& def, const AttrValue* value) {
    out_.clear();
    value != nullptr ? Value(def, *value) : DefaultValue(def);
    visit(&def, def.name, out_);
  };
  for (const AttrDef& def : Info(hlo.opcode).attrs) {
    const AttrValue* value = hlo.Find(def.id);
    const bool raw = value != nullptr && std::holds_alternative<RawText>(*value);
    if (!raw && !IsOmitted(def) && IsShown(hlo, def, value)) print(def, value);
  }
  for (const AttrDef& def : CommonAttrs())
    if (const AttrValue* value = hlo.Find(def.id); !IsOmitted(def) && IsCommonShown(hlo, def, value)) print(def, value);
  for (const NamedAttr& attr : hlo.attrs)
    if (const RawText* raw = std::get_if<RawText>(&attr.value)) {
      const size_t equals = raw->text.find('=');
      visit(nullptr, raw->text.substr(0, equals), equals == raw->text.npos ? "" : raw->text.substr(equals + 1));
    }
}

}  // namespace shoal::internal
