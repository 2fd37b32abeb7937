#include "present/page/page.h"

#include "analyze/facts/logical_collective.h"
#include "analyze/memory/memory.h"
#include "core/base/strings.h"
#include "formats/files/profile.h"
#include "present/page/page_html.h"
#include "present/reports/assumptions.h"

namespace shoal::internal {
namespace {

std::vector<std::string> AllAssumptions(const PageModule& page) {
  std::vector<std::string> all = AssumptionsOf(page.facts->executions());
  for (const auto* more : {&page.facts->collectives().assumptions, &page.facts->memory().assumptions})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

// Adds predictions. If the time of the module cannot be predicted, the page lists the reason as an assumption.
Status AddTimes(const std::vector<Machine>& machines, PageModule& page) {
  if (machines.empty()) return {};
  auto input = PredictionInput::Of(page.facts);
  if (!input.ok()) {
    page.assumptions.push_back(StrCat("the step time cannot be predicted: ", input.diag().message));
    return {};
  }
  page.forecast_input = std::move(*input);
  for (const Machine& machine : machines) {
    SHOAL_ASSIGN(forecast, PredictOnMachine(*page.forecast_input, machine));
    page.forecasts.push_back(std::move(forecast));
  }
  // Each sentence once: it is the first assumption of the page.
  for (const Prediction& forecast : page.forecasts)
    if (!forecast.backend_mismatch.empty() && (page.assumptions.empty() || page.assumptions.front() != forecast.backend_mismatch))
      page.assumptions.insert(page.assumptions.begin(), forecast.backend_mismatch);
  return {};
}

Status AddProfiles(const std::vector<std::string>& paths, PageModule& page) {
  for (const std::string& path : paths) {
    SHOAL_ASSIGN(trace, ReadProfile(path));
    page.measured.emplace_back(path.substr(path.find_last_of('/') + 1), std::move(trace));
  }
  return {};
}

Result<std::unique_ptr<PageModule>> PageModuleOf(const PageInput& input, const PageOptions& options) {
  auto page = std::make_unique<PageModule>(input.path, input.facts);
  page->devices_per_node = options.devices_per_node;
  page->assumptions = AllAssumptions(*page);
  page->budget = options.budget;
  SHOAL_TRY(AddTimes(options.machines, *page));
  return page;
}

}  // namespace

Result<Page> MakePage(const PageInput& a, const PageInput* b, const PageOptions& options) {
  PageSections sections;
  SHOAL_ASSIGN(page_a, PageModuleOf(a, options));
  SHOAL_TRY(AddProfiles(options.profiles, *page_a));
  AddModuleSections(*page_a, "a.", sections);
  std::vector<std::string> files = {page_a->file};
  std::unique_ptr<PageModule> page_b;
  std::unique_ptr<PageDiff> diff;
  if (b != nullptr) {
    SHOAL_ASSIGN(made, PageModuleOf(*b, options));
    page_b = std::move(made);
    AddModuleSections(*page_b, "b.", sections);
    files.push_back(page_b->file);
    diff = std::make_unique<PageDiff>(*page_a, *page_b);
    AddDiffSection(*diff, *page_a, *page_b, sections);
  }
  std::vector<PageSections::StepTime> predictions;
  for (const PageModule* page : {page_a.get(), page_b.get()})
    if (page != nullptr)
      for (const Prediction& forecast : page->forecasts)
        predictions.push_back({page->file, forecast.machine.name, forecast.prediction.step_seconds});
  PageSections::Packed data = sections.Pack(files, predictions);
  return Page{PageHtml(*page_a, page_b.get(), diff.get(), data.bytes), std::move(data.directory)};
}

}  // namespace shoal::internal
