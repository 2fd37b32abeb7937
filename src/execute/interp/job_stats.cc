#include "execute/interp/job_stats.h"

#include <algorithm>

#include "core/ops/traits.h"
#include "execute/collectives/process_link.h"

namespace shoal::internal {
namespace {

std::string Pack(const ProcessLink& link, const RunStats& stats) {
  Writer writer;
  writer.Real(stats.seconds).Int(stats.instructions).Int(stats.iterations).Ints(stats.peak_bytes);
  for (const auto& by_op : stats.traffic) {
    writer.Int(std::ssize(by_op));
    for (const auto& [opcode, traffic] : by_op)
      writer.Int(static_cast<int64_t>(opcode)).Int(traffic.calls).Int(traffic.payload_bytes).Int(traffic.wire_bytes);
  }
  writer.Int(std::ssize(stats.stubs));
  for (const auto& [target, stub] : stats.stubs) writer.Int(link.OrdinalOf(*stub.first)).Int(stub.count);
  for (const auto* instruction_set : {&stats.endless_loops, &stats.padded_gathers}) {
    writer.Int(std::ssize(*instruction_set));
    for (const Instruction* hlo : *instruction_set) writer.Int(link.OrdinalOf(*hlo));
  }
  writer.Int(std::ssize(stats.loops));
  for (const auto& [loop, runs] : stats.loops) writer.Int(link.OrdinalOf(*loop)).Int(runs.entered).Int(runs.iterations);
  writer.Int(std::ssize(stats.branches));
  for (const auto& [conditional, taken] : stats.branches) writer.Int(link.OrdinalOf(*conditional)).Ints(taken);
  return writer.Take();
}

void Add(const ProcessLink& link, std::string_view bytes, RunStats& stats) {
  Reader reader(bytes);
  auto hlo = [&] { return link.InstructionAt(reader.Int()); };
  stats.seconds = std::max(stats.seconds, reader.Real());
  stats.instructions += reader.Int();
  stats.iterations += reader.Int();
  const std::vector<int64_t> peaks = reader.Ints();
  for (size_t d = 0; d < peaks.size(); ++d) stats.peak_bytes[d] = std::max(stats.peak_bytes[d], peaks[d]);
  for (auto& by_op : stats.traffic) {
    for (int64_t n = reader.Int(); n > 0; --n) {
      Traffic& traffic = by_op[static_cast<Opcode>(reader.Int())];
      traffic.calls += reader.Int();
      traffic.payload_bytes += reader.Int();
      traffic.wire_bytes += reader.Int();
    }
  }
  for (int64_t n = reader.Int(); n > 0; --n) {
    const Instruction* first = hlo();
    stats.stubs.try_emplace(TargetOf(*first), Stub{first, 0}).first->second.count +=
        reader.Int();
  }
  for (auto* instruction_set : {&stats.endless_loops, &stats.padded_gathers})
    for (int64_t n = reader.Int(); n > 0; --n) instruction_set->insert(hlo());
  for (int64_t n = reader.Int(); n > 0; --n) {
    Device::LoopRuns& runs = stats.loops[hlo()];
    runs.entered += reader.Int();
    runs.iterations += reader.Int();
  }
  for (int64_t n = reader.Int(); n > 0; --n) {
    std::vector<int64_t>& sums = stats.branches[hlo()];
    const std::vector<int64_t> taken = reader.Ints();
    sums.resize(std::max(sums.size(), taken.size()));
    for (size_t b = 0; b < taken.size(); ++b) sums[b] += taken[b];
  }
}

}  // namespace

void GatherStats(ProcessLink& link, RunStats& stats) {
  const std::vector<std::string> all = link.job().Gather(Pack(link, stats));
  for (size_t rank = 1; rank < all.size(); ++rank) Add(link, all[rank], stats);
}

}  // namespace shoal::internal
