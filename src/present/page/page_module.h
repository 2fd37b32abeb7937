// The sections of a page that describe one module.
#pragma once

#include "analyze/cost/cost.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/facts/instruction_ids.h"
#include "analyze/memory/memory.h"
#include "analyze/summary/fusion_work.h"
#include "predict/timeline/predict.h"
#include "present/page/page_sections.h"

namespace shoal::internal {

// A module with all that is known about it.
struct PageModule {
  PageModule(std::string file, const Module& module, const ExecutionOptions& options, int64_t devices_per_node);

  std::string file;  // its name without the folder: what the writer's machine looks like is nobody's business
  const Module& module;
  ExecutionCounts executions;
  InstructionIds ids;
  InferredGrid devices;
  ModuleCollectives collectives;
  ModuleCost cost;
  ModuleMemory memory;
  int64_t devices_per_node = 8;
  double wire_bytes = 0;                 // that the device which receives most receives, per step, the direct way
  int64_t budget = -1;                   // bytes a device has; -1: nobody said
  std::unique_ptr<PredictionInput> forecast_input;  // that forecasts point into
  std::vector<Prediction> forecasts;                // on the machines that were asked for
  std::vector<std::pair<std::string, Trace>> measured;  // profiles, by the names of their files
  std::vector<std::string> assumptions;  // sentences
  FusionWorks works;
};

// `prefix` is "a." or "b.".
void AddModuleSections(PageModule& page, const std::string& prefix, PageSections& sections);

// Parts of AddModuleSections with files of their own.
void AddCommSections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections);
void AddTimeSections(PageModule& page, const std::string& prefix, PageSections& sections);
void AddMemorySections(const PageModule& page, const std::string& prefix, StringTable& strings, PageSections& sections);

}  // namespace shoal::internal
