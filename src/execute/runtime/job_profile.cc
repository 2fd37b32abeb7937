#include "execute/runtime/job_profile.h"

#include <unordered_map>

#include "execute/transport/job.h"
#include "execute/transport/message_buffer.h"
#include "execute/transport/placement.h"

namespace shoal::internal {
namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The offset of each rank's clock from the first process's clock. Takes several measurements and uses the one with the
// shortest round trip. In processes other than the first, all offsets are zero.
std::vector<double> ClockOffsets(Job& job) {
  constexpr int kMeasurements = 10;
  std::vector<double> offsets(static_cast<size_t>(job.size()));
  double shortest = INFINITY;
  for (int i = 0; i < kMeasurements; ++i) {
    const double sent = Now();
    job.Broadcast("");
    const std::vector<std::string> replies = job.Gather(Writer().Real(Now()).Take());
    const double received = Now();
    if (!job.is_root() || received - sent >= shortest) continue;
    shortest = received - sent;
    for (size_t rank = 1; rank < replies.size(); ++rank)
      offsets[rank] = Reader(replies[rank]).Real() - (sent + received) / 2;
  }
  return offsets;
}

std::vector<const Instruction*> InstructionsOf(const Module& module) {
  std::vector<const Instruction*> all;
  for (const Computation* computation : module.computations)
    all.insert(all.end(), computation->instructions.begin(), computation->instructions.end());
  return all;
}

}  // namespace

void GatherStepLog(Job& job, const Placement& placement, const Module& module, StepLog& log) {
  const std::vector<double> offsets = ClockOffsets(job);
  const std::vector<const Instruction*> instructions = InstructionsOf(module);
  std::unordered_map<const Instruction*, int64_t> ordinals;
  for (size_t i = 0; i < instructions.size(); ++i) ordinals[instructions[i]] = static_cast<int64_t>(i);
  Writer writer;
  writer.Real(log.origin());
  for (int64_t device : placement.Local()) {
    writer.Int(device).Int(std::ssize(log.steps(device)));
    for (const StepLog::StepSpan& step : log.steps(device))
      writer.Int(ordinals.at(step.hlo)).Real(step.start).Real(step.end);
    writer.Int(std::ssize(log.totals(device)));
    for (const auto& [hlo, total] : log.totals(device))
      writer.Int(ordinals.at(hlo)).Int(total.times).Real(total.seconds);
  }
  const std::vector<std::string> all = job.Gather(writer.Take());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    Reader reader(all[rank]);
    auto hlo = [&] { return instructions[static_cast<size_t>(reader.Int())]; };
    const double shift = reader.Real() - offsets[rank] - log.origin();
    while (!reader.rest().empty()) {
      const int64_t device = reader.Int();
      std::vector<StepLog::StepSpan> steps(static_cast<size_t>(reader.Int()));
      for (StepLog::StepSpan& step : steps) {
        step.hlo = hlo();
        step.start = reader.Real() + shift;
        step.end = reader.Real() + shift;
      }
      std::map<const Instruction*, StepLog::Total> totals;
      for (int64_t n = reader.Int(); n > 0; --n) {
        StepLog::Total& total = totals[hlo()];
        total.times = reader.Int();
        total.seconds = reader.Real();
      }
      log.Put(device, std::move(steps), std::move(totals));
    }
  }
}

}  // namespace shoal::internal
