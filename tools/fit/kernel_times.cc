// Evaluates the kernel time formulas for tools/fit/fit.py: shoal_kernel_times MACHINE FILE…
// Prints one line of JSON with the constants and the kernels of all files. Then, for each line of numbers on standard
// input (one per constant, in that order, then kernel indices), prints one line with the microseconds of the kernels.
#include <cstdio>
#include <iostream>
#include <sstream>

#include "analyze/facts/infer_devices.h"
#include "core/base/source.h"
#include "formats/text/parser.h"
#include "nlohmann/json.hpp"
#include "predict/timeline/predict.h"

namespace shoal::internal {
namespace {

using Json = nlohmann::ordered_json;

struct TimedKernel {
  KernelDescriptor kernel;
  CacheTraffic traffic;
};

Json KernelsOf(const Module& module, const Machine& machine, const std::string& path, std::vector<TimedKernel>& kernels) {
  auto input = PredictionInput::Of(module, {}, InferDevices(module).grid);
  if (!input.ok()) return Json::array();
  auto forecast = PredictOnMachine(**input, machine);
  Json rows = Json::array();
  if (!forecast.ok()) return rows;
  for (const OpTime& op : forecast->prediction.ops) {
    Json row = {{"file", path},
                {"op", op.hlo->name},
                {"family", ToString(op.family)},
                {"times", op.times},
                {"launches", op.timing.launches},
                {"read", op.kernel.read()},
                {"hit", op.traffic.hit},
                {"write_hit", op.traffic.write_hit},
                {"full_inputs", op.kernel.full_inputs},
                {"miss", op.traffic.miss},
                {"written", op.kernel.written},
                {"instructions", op.kernel.instructions},
                {"elements", op.kernel.elements},
                {"blocks", op.kernel.blocks},
                {"threads", op.kernel.threads},
                {"rounds", op.kernel.rounds},
                {"row_length", op.kernel.row_length},
                {"rows", op.kernel.rows},
                {"source", op.kernel.source_elements},
                {"contiguous", op.kernel.contiguous},
                {"window", op.kernel.window},
                {"masked", op.kernel.masked},
                {"reductions", op.kernel.reductions},
                {"element_bytes", op.kernel.element_bytes},
                {"key_bytes", op.kernel.key_bytes},
                {"value_bytes", op.kernel.value_bytes},
                {"swaps", op.kernel.cas},
                {"sets", op.kernel.fast_copy},
                {"flops", op.kernel.flops}};
    if (op.kernel.product)
      row["product"] = {{"unit", ToString(op.kernel.product->unit)}, {"b", op.kernel.product->batch},
                        {"m", op.kernel.product->m}, {"n", op.kernel.product->n}, {"k", op.kernel.product->k},
                        {"bytes", op.kernel.product->operand_bytes}, {"mn", op.kernel.product->neither_k_minor}};
    if (const auto& conv = op.kernel.convolution)
      row["convolution"] = {{"pass", static_cast<int>(conv->pass)}, {"features", conv->features}, {"taps", conv->taps},
                            {"strided", conv->strided}};
    if (const auto& a = op.kernel.attention)
      row["attention"] = {{"batch", a->batch}, {"heads", a->heads}, {"queries", a->queries}, {"keys", a->keys},
                          {"head", a->head}, {"causal", a->causal}, {"backward", a->backward}};
    if (op.kernel.tile)
      row["tile"] = {op.kernel.tile->m, op.kernel.tile->n, op.kernel.tile->k, op.kernel.tile->warps, op.kernel.tile->stages,
                     op.kernel.tile->rows, op.kernel.tile->columns};
    rows.push_back(std::move(row));
    kernels.push_back({op.kernel, op.traffic});
  }
  return rows;
}

int Main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: shoal_kernel_times MACHINE FILE…\n", stderr), 2;
  Result<Machine> machine = LoadMachine(argv[1]);
  if (!machine.ok()) return std::fprintf(stderr, "%s\n", machine.diag().message.c_str()), 2;
  std::vector<TimedKernel> kernels;
  Json head = {{"constants", Json::array()}, {"kernels", Json::array()}};
  for (const KernelConstant& c : AllKernelConstants())
    head["constants"].push_back({{"name", c.name}, {"start", c.start}, {"spread", c.spread}, {"now", machine->kernels.*(c.at)}});
  for (int i = 2; i < argc; ++i) {
    auto source = Source::Read(argv[i]);
    Diags diags;
    auto module = source.ok() ? ParseModule(*source, {}, diags) : nullptr;
    if (module == nullptr) return std::fprintf(stderr, "%s: cannot be read\n", argv[i]), 1;
    for (Json& row : KernelsOf(*module, *machine, argv[i], kernels)) head["kernels"].push_back(std::move(row));
  }
  std::cout << head.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream numbers(line);
    for (const KernelConstant& c : AllKernelConstants()) numbers >> machine->kernels.*(c.at);
    std::string out;
    char text[32];
    std::vector<size_t> indices;
    for (size_t i; numbers >> i;) indices.push_back(i);
    for (size_t i : indices) {
      if (i >= kernels.size()) return 1;
      std::snprintf(text, sizeof(text), "%.6g ", EstimateKernelTime(kernels[i].kernel, kernels[i].traffic, *machine).seconds * 1e6);
      out += text;
    }
    std::cout << out << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace shoal::internal

int main(int argc, char** argv) { return shoal::internal::Main(argc, argv); }
