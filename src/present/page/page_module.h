// The sections of a page that describe one module.
#pragma once

#include "analyze/cost/cost.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/facts/instruction_ids.h"
#include "analyze/memory/memory.h"
#include "analyze/summary/fusion_work.h"
#include "analyze/summary/module_facts.h"
#include "predict/timeline/predict.h"
#include "present/page/page_sections.h"

namespace shoal::internal {

// A module with its facts, predictions and profiles.
struct PageModule {
  PageModule(const std::string& path, std::shared_ptr<const ModuleFacts> facts);

  std::string file;  // without the directory, so that the page reveals no paths
  std::shared_ptr<const ModuleFacts> facts;
  const Module& module;
  const InstructionIds& ids;
  int64_t devices_per_node = 8;
  int64_t budget = -1;                   // memory of a device in bytes; -1: not given
  std::unique_ptr<PredictionInput> forecast_input;  // owns the data that `forecasts` refers to
  std::vector<Prediction> forecasts;                // one per machine of --on
  std::vector<std::pair<std::string, Trace>> measured;  // file name and profile
  std::vector<std::string> assumptions;  // one sentence each
};

// `prefix` is "a." or "b.".
void AddModuleSections(PageModule& page, const std::string& prefix, PageSections& sections);

// Parts of AddModuleSections, each in its own file.
void AddCommSections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections);
void AddTimeSections(PageModule& page, const std::string& prefix, PageSections& sections);
void AddMemorySections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections);

}  // namespace shoal::internal
