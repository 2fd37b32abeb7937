// The facts of a module, predictions, differences and pages. Results cross as text and JSON; python/shoal/_results.py
// makes typed objects of them.
#include "bindings.h"
#include "shoal/diff.h"
#include "shoal/files.h"
#include "shoal/report.h"

using namespace nb::literals;
using shoal::Facts;

namespace {

// A result as text of any width, and as JSON.
void BindView(nb::module_& m) {
  nb::class_<shoal::View>(m, "View")
      .def("to_text", [](const shoal::View& view, size_t width, bool color) { return view.ToText({width, color}); },
           "width"_a = 0, "color"_a = false)
      .def("to_json", &shoal::View::ToJson);
}

shoal::Machine MachineOf(const std::string& name, const std::vector<std::string>& assignments) {
  shoal::Machine machine = Unwrap(shoal::Machine::Load(name));
  for (const std::string& assignment : assignments) Unwrap(machine.Set(assignment));
  return machine;
}

template <class Compute>
auto WithoutGil(Compute compute) {
  auto result = [&] {
    nb::gil_scoped_release release;
    return compute();
  }();
  return Unwrap(std::move(result));
}

}  // namespace

void BindFacts(nb::module_& m) {
  BindView(m);
  nb::class_<Facts>(m, "Facts")
      .def("comm", [](const Facts& f, int64_t devices_per_node, int64_t top, const std::string& sort) -> shoal::View {
        return WithoutGil([&] { return f.collectives({.devices_per_node = devices_per_node, .top = top, .sort = sort}); });
      }, "devices_per_node"_a = 8, "top"_a = 20, "sort"_a = "order")
      .def("cost", [](const Facts& f, const std::string& by, int64_t top, const std::string& sort) -> shoal::View {
        return WithoutGil([&] { return f.cost({.by = by, .top = top, .sort = sort}); });
      }, "by"_a = "op", "top"_a = 20, "sort"_a = "cost")
      .def("mem", [](const Facts& f, std::optional<int64_t> budget, int64_t top) -> shoal::View {
        return WithoutGil([&] { return f.memory({.top = top, .budget = budget}); });
      }, "budget"_a = nb::none(), "top"_a = 10)
      .def("show", [](const Facts& f, const std::string& ops, int64_t depth, bool names, bool fusions) -> shoal::View {
        using Ops = shoal::OutlineOptions::Ops;
        const Ops chosen = ops == "all" ? Ops::kAll : ops == "communication" ? Ops::kCommunication
                           : ops == "computation" ? Ops::kComputation : Ops::kImportant;
        return WithoutGil([&] {
          return f.outline({.ops = chosen, .inside_fusions = fusions, .names = names, .depth = depth});
        });
      }, "ops"_a = "important", "depth"_a = 0, "names"_a = false, "fusions"_a = false)
      .def("time", [](const Facts& f, const std::string& machine, const std::vector<std::string>& set) {
        const shoal::Machine loaded = MachineOf(machine, set);
        const shoal::Prediction prediction = WithoutGil([&] { return shoal::Predict(f, loaded); });
        nb::dict numbers;
        numbers["machine"] = prediction.machine;
        numbers["step_seconds"] = prediction.step_seconds;
        numbers["matrix_seconds"] = prediction.matrix_seconds;
        numbers["memory_seconds"] = prediction.memory_seconds;
        numbers["communication_seconds"] = prediction.communication_seconds;
        numbers["copy_seconds"] = prediction.copy_seconds;
        numbers["idle_seconds"] = prediction.idle_seconds;
        numbers["warnings"] = prediction.warnings;
        nb::list ops, transfers;
        for (const shoal::PredictedOp& op : prediction.ops) {
          nb::dict row;
          row["name"] = std::string(op.instruction.name());
          row["kind"] = op.kind;
          row["seconds"] = op.seconds;
          row["executions"] = op.executions;
          row["flops"] = op.flops;
          row["bytes"] = op.bytes;
          row["source"] = op.instruction.metadata().source;
          ops.append(row);
        }
        for (const shoal::PredictedTransfer& transfer : prediction.transfers) {
          nb::dict row;
          row["name"] = std::string(transfer.instruction.name());
          row["seconds"] = transfer.seconds;
          row["exposed_seconds"] = transfer.exposed_seconds;
          row["executions"] = transfer.executions;
          transfers.append(row);
        }
        numbers["ops"] = ops;
        numbers["transfers"] = transfers;
        return nb::make_tuple(static_cast<const shoal::View&>(prediction), numbers);
      }, "machine"_a, "set"_a = std::vector<std::string>())
      .def("totals", [](const Facts& f) {
        const shoal::Totals totals = f.totals();
        nb::dict dict;
        dict["computations"] = totals.computations;
        dict["instructions"] = totals.instructions;
        dict["flops"] = totals.flops;
        dict["transcendentals"] = totals.transcendentals;
        dict["bytes"] = totals.bytes;
        dict["wire_bytes"] = totals.wire_bytes;
        dict["collectives"] = totals.collectives;
        dict["peak_memory"] = totals.peak_memory;
        dict["collectives_by_kind"] = totals.collectives_by_kind;
        return dict;
      })
      .def_prop_ro("devices", [](const Facts& f) { return f.devices().count; })
      .def_prop_ro("devices_from", [](const Facts& f) { return f.devices().from; })
      .def_prop_ro("assumptions", &Facts::assumptions)
      .def("diff", [](const Facts& a, const Facts& b, const std::vector<std::string>& thresholds) {
        const shoal::ModuleDiff diff = WithoutGil([&] { return shoal::Diff(a, b, {.thresholds = thresholds}); });
        return nb::make_tuple(static_cast<const shoal::View&>(diff), diff.exceeded);
      }, "other"_a, "thresholds"_a = std::vector<std::string>())
      .def("page", [](const Facts& a, const std::vector<std::string>& machines, const Facts* b) {
        shoal::PageOptions options;
        for (const std::string& machine : machines) options.machines.push_back(MachineOf(machine, {}));
        return WithoutGil([&] { return shoal::Page(a, options, b); }).html;
      }, "machines"_a = std::vector<std::string>(), "other"_a = nb::none());
  m.def("facts", [](const shoal::Module& module, const std::map<std::string, int64_t>& trip_counts,
                    const std::string& backend) {
    return WithoutGil([&] { return Facts::Of(module, {.trip_counts = trip_counts, .backend = backend}); });
  }, "module"_a, "trip_counts"_a = std::map<std::string, int64_t>(), "backend"_a = "");
  m.def("compare", [](const shoal::Module& a, const shoal::Module& b, uint64_t seed) {
    shoal::CompareOptions options;
    options.inputs.seed = seed;
    const shoal::Comparison comparison = WithoutGil([&] { return shoal::Compare(a, b, options); });
    return nb::make_tuple(static_cast<const shoal::View&>(comparison), comparison.agrees);
  }, "a"_a, "b"_a, "seed"_a = 0);
  m.def("fingerprint", [](const shoal::Module& module) { return WithoutGil([&] { return shoal::Fingerprint(module); }); },
        "module"_a);
  m.def("stats", [](const std::string& folder, bool stages, int64_t top) -> shoal::View {
    shoal::StatsOptions options;
    options.stages = stages;
    options.top = top;
    return WithoutGil([&] { return shoal::Stats(folder, options); });
  }, "folder"_a, "stages"_a = false, "top"_a = 30);
  m.def("machines", &shoal::Machine::Names);
}
