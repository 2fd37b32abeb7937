// What handles to facts share, and results as text and JSON.
#pragma once

#include <functional>

#include "analyze/summary/module_facts.h"
#include "api/cpp/module_state.h"
#include "present/reports/text_style.h"
#include "shoal/facts.h"

namespace shoal::internal {

struct FactsState {
  FactsState(ModuleHandle handle, FactOptions options)
      : module(std::move(handle)), facts(std::shared_ptr<const Module>(module, &module->module()), WithPackages(std::move(options))) {}

  const std::string& file() const { return module->file.path; }
  shoal::Instruction View(const Instruction& hlo) const { return shoal::Instruction(module, &hlo); }

  ModuleHandle module;
  ModuleFacts facts;

 private:
  FactOptions WithPackages(FactOptions options) const {
    options.own_packages = module->own_packages;
    return options;
  }
};

using FactsHandle = std::shared_ptr<const FactsState>;

// The functions keep what they print alive.
struct ViewState {
  std::function<std::string(const TextStyle& style)> text;
  std::function<std::string()> json;
  std::function<std::string()> csv = {};  // may be empty
};

inline shoal::View MakeView(std::function<std::string(const TextStyle& style)> text, std::function<std::string()> json,
                            std::function<std::string()> csv = {}) {
  return shoal::View(std::make_shared<const ViewState>(ViewState{std::move(text), std::move(json), std::move(csv)}));
}

shoal::Totals PublicTotals(const ModuleTotals& totals);

}  // namespace shoal::internal
