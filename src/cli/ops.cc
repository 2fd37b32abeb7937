// shoal ops: the op table.
#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "nlohmann/json.hpp"
#include "ops/op.h"

namespace shoal {
namespace {

std::string AttrNames(const OpInfo& op) {
  std::vector<std::string> names;
  for (const AttrDef& attr : op.attrs) names.push_back(StrCat(attr.name, attr.required ? "*" : ""));
  return StrJoin(names, ", ");
}

// The page docs/ops.md, up to the rows of its table.
constexpr char kPage[] =
    "# shoal ops\n\nLists every HLO op with its class, its number of operands and its attributes; `--json` for "
    "programs.\n\n    $ shoal ops | grep all-to-all\n\nThis page is `shoal ops --markdown`.\n\n"
    "| op | class | operands | attributes (\\*: required) | parse | print | verify |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n";

std::string Arity(const OpInfo& op) { return op.arity < 0 ? "any" : StrCat(op.arity); }

int ListOps(bool markdown, bool json) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  if (markdown) std::fputs(kPage, stdout);
  for (int i = 0; i < kOpcodeCount; ++i) {
    const OpInfo& op = Info(static_cast<Opcode>(i));
    const std::string name(op.text), op_class(ToString(op.op_class)), attrs = AttrNames(op);
    if (json) {
      nlohmann::ordered_json one = {
          {"op", name}, {"class", op_class}, {"operands", op.arity}, {"attributes", nlohmann::json::array()}};
      for (const AttrDef& attr : op.attrs)
        one["attributes"].push_back({{"name", std::string(attr.name)}, {"required", attr.required}});
      one["support"] = {"parse", "print", "verify"};
      all.push_back(std::move(one));
    } else if (markdown) {
      std::string cell = attrs;
      for (size_t at = cell.find('*'); at != std::string::npos; at = cell.find('*', at + 2)) cell.insert(at, "\\");
      std::printf("| %s | %s | %s | %s | yes | yes | yes |\n", name.c_str(), op_class.c_str(), Arity(op).c_str(),
                  cell.c_str());
    } else {
      std::printf("%-26s %-14s %-4s %s\n", name.c_str(), op_class.c_str(), Arity(op).c_str(), attrs.c_str());
    }
  }
  if (json) std::puts(nlohmann::ordered_json{{"version", 1}, {"ops", std::move(all)}}.dump(2).c_str());
  if (!json && !markdown)
    std::printf("%d ops; * marks attributes that must be given. All are parsed, printed and verified.\n", kOpcodeCount);
  return kOk;
}

}  // namespace

Run AddOps(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("ops", "List every HLO op with its class, operands and attributes");
  auto markdown = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  verb->add_flag("--markdown", *markdown, "As the table in docs/ops.md");
  verb->add_flag("--json", *json, "For programs");
  verb->footer("Examples:\n  shoal ops | grep collective\n  shoal ops --markdown > docs/ops.md");
  return [=] { return ListOps(*markdown, *json); };
}

}  // namespace shoal
