#include "present/reports/ops_report.h"

#include <cstdio>

#include "core/base/strings.h"
#include "core/ops/op.h"
#include "present/reports/json.h"

namespace shoal::internal {
namespace {

std::string AttrNames(const OpInfo& op, const char* mark) {
  return StrJoin(op.attrs, ", ",
                 [&](std::string* out, const AttrDef& attr) { StrAppend(out, attr.name, attr.required ? mark : ""); });
}

constexpr char kTableHead[] =
    "| op | class | operands | attributes (\\*: required) | shape |\n"
    "| --- | --- | --- | --- | --- |\n";

const char* ShapeOrigin(const OpInfo& op) { return op.infers_shape ? "inferred" : "declared"; }

std::string Arity(const OpInfo& op) { return op.arity < 0 ? "any" : StrCat(op.arity); }

template <class Visit>
void ForEachOp(Visit visit) {
  for (int i = 0; i < kOpcodeCount; ++i) visit(Info(static_cast<Opcode>(i)));
}

}  // namespace

std::string OpsText(const TextStyle& style) {
  std::string text;
  ForEachOp([&](const OpInfo& op) {
    char start[64];
    std::snprintf(start, sizeof(start), "%-26s %-14s %-4s ", std::string(op.text).c_str(),
                  std::string(ToString(op.op_class)).c_str(), Arity(op).c_str());
    StrAppend(&text, start, AttrNames(op, "*"), "\n");
  });
  StrAppend(&text, kOpcodeCount, " ops; * marks required attributes.\n");
  return Wrapped(text, style.width, 4);
}

std::string OpsMarkdown() {
  std::string text = kTableHead;
  ForEachOp([&](const OpInfo& op) {
    StrAppend(&text, "| ", op.text, " | ", ToString(op.op_class), " | ", Arity(op), " | ", AttrNames(op, "\\*"),
" | ", ShapeOrigin(op), " |\n");
  });
  return text;
}

std::string OpsJson() {
  Json all = Json::array();
  ForEachOp([&](const OpInfo& op) {
    Json attributes = Json::array();
    for (const AttrDef& attr : op.attrs) attributes.push_back({{"name", attr.name}, {"required", attr.required}});
    all.push_back({{"op", op.text},
                   {"class", ToString(op.op_class)},
                   {"operands", op.arity},
                   {"attributes", std::move(attributes)},
                   {"shape", ShapeOrigin(op)}});
  });
  return JsonText({{"version", kJsonVersion}, {"ops", std::move(all)}});
}

}  // namespace shoal::internal
