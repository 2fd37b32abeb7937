// shoal check: reads and verifies.
#include <cstdio>
#include <memory>

#include "base/strings.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "nlohmann/json.hpp"
#include "verify/verify.h"

namespace shoal {
namespace {

std::string Count(size_t count, const char* what) { return StrCat(count, " ", what, count == 1 ? "" : "s"); }

// "2 computations, 31 instructions"
std::string Contents(const Module& module) {
  size_t instructions = 0;
  for (const Computation* computation : module.computations) instructions += computation->instructions.size();
  return StrCat(Count(module.computations.size(), "computation"), ", ", Count(instructions, "instruction"));
}

int CheckFiles(const std::vector<std::string>& files, const CommonFlags& flags) {
  size_t bad = 0;
  nlohmann::ordered_json report = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    Input input = ReadInput(file, {/*strict=*/true});
    if (input.module != nullptr) Verify(*input.module, input.diags);
    const bool good = input.diags.errors() == 0;
    bad += good ? 0 : 1;
    if (flags.json) {
      report.push_back({{"file", file},
                        {"ok", good},
                        {"errors", input.diags.errors()},
                        {"warnings", input.diags.warnings()},
                        {"diagnostics", nlohmann::ordered_json::parse(DiagsAsJson(input))}});
      continue;
    }
    Report(input, flags);
    if (good) std::printf("%s: ok, %s\n", input.text()->name().c_str(), Contents(*input.module).c_str());
  }
  if (flags.json) {
    nlohmann::ordered_json all = {{"version", 1}, {"ok", bad == 0}, {"files", std::move(report)}};
    std::puts(all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else if (files.size() > 1) {
    std::printf("%s: %zu ok, %zu with errors\n", Count(files.size(), "file").c_str(), files.size() - bad, bad);
  }
  return bad == 0 ? kOk : kInputAtFault;
}

}  // namespace

Run AddCheck(CLI::App& shoal) {
  CLI::App* verb = shoal.add_subcommand("check", "Read and verify modules; each error with its place and a caret");
  auto files = std::make_shared<std::vector<std::string>>();
  auto flags = std::make_shared<CommonFlags>();
  verb->add_option("FILE", *files, "HLO text, .pb, either with gzip, or - for standard input")->required();
  flags->AddTo(*verb);
  verb->add_flag("--json", flags->json, "A report for programs, on standard output");
  verb->footer(
      "check is always strict. Exit status 1 if any file has an error.\n\n"
      "Examples:\n"
      "  shoal check module.hlo\n"
      "  shoal check --json dump/*.txt | jq '.files[] | select(.ok | not) | .file'");
  return [=] { return CheckFiles(*files, *flags); };
}

}  // namespace shoal
