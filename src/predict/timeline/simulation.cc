#include "predict/timeline/simulation.h"

#include <algorithm>
#include <cmath>

#include "analyze/cost/kernel_config.h"
#include "analyze/cost/kernel_traffic.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "predict/timeline/cache.h"
#include "predict/timeline/recorder.h"
#include "predict/timeline/values.h"

namespace shoal::internal {
namespace {

class Simulation {
 public:
  Simulation(const DevicePlanInput& input, const DevicePlan& plan, const DeviceClass& device, size_t class_index, Arrivals* arrivals)
      : input_(input), plan_(plan), machine_(input.machine), device_(device), class_(class_index), arrivals_(arrivals),
        cache_(machine_.device.cache * machine_.kernels.cache_share), recorder_(input, plan, device.name) {}

  SimulatedStep Run() {
    if (input_.facts.module().entry == nullptr) return recorder_.Finish(0);
    // The first run only fills the cache, like a previous step.
    recording_ = false;
    RunBlock(*input_.facts.module().entry, 1);
    // In long steps, the power limit slows down the matrix units. The slowdown starts at 0.1 s and is complete at 1 s.
    const double throttled_part = std::clamp(std::log10(std::max(1e-9, now_) / .1), 0.0, 1.0);
    throttle_ = 1 - (1 - std::clamp(machine_.device.sustained, .01, 1.0)) * throttled_part;
    Restart();
    recording_ = true;
    if (arrivals_ != nullptr) arrivals_->Restart(class_);
    RunBlock(*input_.facts.module().entry, 1);
    for (double free : free_) WaitUntil(free, nullptr, 1);
    return recorder_.Finish(NewResultBytes());
  }

 private:
  void Restart() {
    now_ = 0;
    free_.fill(0);
    ends_.clear();
    for (auto& stream : transfers_) stream.clear();
    runs_.clear();
    receives_.clear();
  }

  // Bytes of the results that do not alias a donated argument.
  double NewResultBytes() const {
    const Module& module = input_.facts.module();
    double bytes = module.entry->root == nullptr ? 0 : DataBytes(module.entry->root->shape());
    for (const InputOutputAlias& alias : module.input_output_alias)
      if (const Shape* aliased = module.entry->root->shape().At(alias.output_index)) bytes -= DataBytes(*aliased);
    return std::max(0.0, bytes);
  }

  void RunBlock(const Computation& computation, double weight) {
    auto block = plan_.blocks.find(&computation);
    if (block == plan_.blocks.end() || ++depth_ > 64) return void(depth_ = std::max(0, depth_));
    for (const DevicePlanOp& op : block->second) RunOp(op, weight);
    --depth_;
  }

  void RunOp(const DevicePlanOp& op, double weight) {
    switch (op.kind) {
      case DevicePlanOp::Kind::kNoOp: return void(values_.Forward(*op.hlo));
      case DevicePlanOp::Kind::kKernel: return RunKernel(op, weight);
      case DevicePlanOp::Kind::kCollective:
        RunKernel(op, weight);
        Start(op, weight);
        return Wait(op, weight);
      case DevicePlanOp::Kind::kStart:
        RunKernel(op, weight);
        return Start(op, weight);
      case DevicePlanOp::Kind::kDone:
        Wait(op, weight);
        return RunKernel(op, weight);
      case DevicePlanOp::Kind::kReceive: return Receive(op, weight);
      case DevicePlanOp::Kind::kLoop: return Loop(*op.hlo, weight);
      case DevicePlanOp::Kind::kCall: return Call(*op.hlo, weight);
      case DevicePlanOp::Kind::kConditional: return Conditional(*op.hlo, weight);
    }
  }

  static bool IsInVectorMemory(const Shape& shape) { return shape.layout() != nullptr && shape.layout()->memory_space == 1; }

  CacheTraffic TrafficOf(const DevicePlanOp& op, KernelDescriptor& kernel) {
    CacheTraffic traffic;
    const bool tpu = machine_.device.kind == DeviceKind::kTpu;
    for (size_t i = 0; i < op.inputs.size() && i < kernel.reads.size(); ++i) {
      const double bytes = kernel.reads[i];
      if (bytes <= 0 || op.inputs[i] == nullptr) continue;
      if (tpu) {
        (IsInVectorMemory(op.inputs[i]->shape()) ? traffic.hit : traffic.miss) += bytes;
        continue;
      }
      // If a kernel reads only part of a value, assume that it reads a different part in each execution.
      const bool is_part = bytes < .99 * DataBytes(op.inputs[i]->shape());
      const Leaves& leaves = values_.Of(*op.inputs[i]);
      const double hit = cache_.Touch(is_part || leaves.empty() ? values_.FreshLeaf() : leaves.front(), bytes);
      traffic.hit += hit;
      traffic.miss += bytes - hit;
    }
    if (tpu && IsInVectorMemory(op.hlo->shape())) traffic.hit += kernel.written, kernel.written = 0;
    return traffic;
  }

  // The result of an instruction has the same buffers in every step and every iteration.
  const Leaves& ResultLeaves(const Instruction& hlo) {
    auto [found, inserted] = result_leaves_.try_emplace(&hlo);
    if (inserted) found->second = values_.Fresh(hlo.shape());
    return found->second;
  }

  // Writes `bytes` of a result through the cache. Returns the bytes that were in the cache.
  double WriteToCache(const Instruction& hlo, const Leaves& leaves, double bytes) {
    const Shape& shape = hlo.shape();
    if (!shape.IsTuple() || shape.elements().size() != leaves.size()) return cache_.Touch(leaves.front(), bytes);
    double hit = 0, left = bytes;  // `bytes` excludes a workspace, which is the last leaf
    for (size_t i = 0; i < leaves.size() && left > 0; ++i) {
      const double part = std::min(left, DataBytes(shape.element(static_cast<int64_t>(i))));
      hit += cache_.Touch(leaves[i], part);
      left -= part;
    }
    return hit;
  }

  void RunKernel(const DevicePlanOp& op, double weight) {
    if (op.kernel.family == KernelKind::kNothing) return;
    KernelDescriptor kernel = op.kernel;
    CacheTraffic traffic = TrafficOf(op, kernel);
    Leaves result = kernel.in_place >= 0 && static_cast<size_t>(kernel.in_place) < op.inputs.size()
                        ? values_.Of(*op.inputs[static_cast<size_t>(kernel.in_place)])
                        : ResultLeaves(*op.hlo);
    if (!result.empty() && machine_.device.kind == DeviceKind::kGpu)
      traffic.write_hit = WriteToCache(*op.hlo, result, kernel.written);
    values_.Set(*op.hlo, std::move(result));
    const KernelTime timing = EstimateKernelTime(kernel, traffic, machine_);
    const double alone = KindOfKernel(kernel.family) == TimeKind::kMatrix ? timing.seconds / throttle_ : timing.seconds;
    // Pending collectives take cores and bandwidth from concurrent kernels.
    const double pending = std::max({0.0, free_[kNodeLinks] - now_, free_[kNetwork] - now_});
    const double seconds = alone + machine_.kernels.contention * std::min(alone, pending);
    if (recording_) recorder_.Kernel(op, kernel, traffic, timing, now_, seconds, weight);
    now_ += seconds;
    if (machine_.device.kind == DeviceKind::kGpu) {
      const double gap = machine_.kernels.gap * 1e-6 * timing.launches;
      now_ += gap;
      if (recording_) recorder_.Gap(gap, weight);
    }
  }

  static Stream StreamOf(const PlannedAsync& async) {
    if (async.use == nullptr) return kCopies;
    return async.timing.fabric == Fabric::kNetwork ? kNetwork : kNodeLinks;
  }

  void Start(const DevicePlanOp& op, double weight) {
    const PlannedAsync& async = *op.async;
    const bool synchronizes = arrivals_ != nullptr && async.use != nullptr;
    const bool sends = IsSendKind(async.kind);
    if (synchronizes && !(sends ? arrivals_->Sends(class_, async) : arrivals_->Participates(class_, async))) return;
    const Stream stream = StreamOf(async);
    // If the collective starts in the previous iteration, it starts as soon as its stream is free.
    const double ready = async.starts_in_previous_iteration && in_later_iteration_ ? std::min(now_, free_[stream]) : now_;
    double begin = std::max(ready, free_[stream]);
    if (synchronizes && recording_) {
      const size_t run = runs_[&async]++;
      arrivals_->Arrive(class_, async, run, begin);
      if (!sends) begin = std::max(begin, arrivals_->LatestOther(class_, async, run));
    }
    free_[stream] = begin + async.timing.seconds;
    ends_[&async] = free_[stream];
    transfers_[stream].push_back({&async, begin, free_[stream]});
    if (recording_) recorder_.Transfer(op, stream, begin, weight);
  }

  // Waits for the end of the sender's transfer.
  void Receive(const DevicePlanOp& op, double weight) {
    if (arrivals_ == nullptr || !recording_) return;
    const double sent = arrivals_->LatestOther(class_, *op.async, receives_[op.async]++);
    if (sent <= 0) return;
    const Stream stream = StreamOf(*op.async);
    transfers_[stream].push_back({op.async, sent, sent + op.async->timing.seconds});
    recorder_.Received(*op.async, weight);
    WaitUntil(sent + op.async->timing.seconds, op.async, weight);
  }

  void Wait(const DevicePlanOp& op, double weight) {
    auto found = ends_.find(op.async);
    if (found == ends_.end()) return;  // the start was not simulated
    WaitUntil(found->second, op.async, weight);
    ends_.erase(found);
  }

  void WaitUntil(double end, const PlannedAsync* async, double weight) {
    if (end <= now_) return;
    if (recording_) recorder_.Wait(async, TransfersDuring(now_, end, async), now_, end - now_, weight);
    now_ = end;
  }

  // The parts of [begin, end) in which each transfer runs. If several streams are busy, the stream of `async` counts.
  std::vector<Recorder::Part> TransfersDuring(double begin, double end, const PlannedAsync* async) {
    std::vector<Recorder::Part> parts;
    for (size_t stream = 0; stream < kStreams; ++stream) {
      auto& all = transfers_[stream];
      while (!all.empty() && all.front().end <= begin) all.pop_front();
      if (async != nullptr && stream != StreamOf(*async)) continue;
      double from = begin;
      for (const Transfer& transfer : all) {
        const double until = std::min(end, transfer.end);
        from = std::max(from, transfer.begin);
        if (until <= from) continue;
        parts.push_back({transfer.async, until - from});
        from = until;
      }
      if (async == nullptr && from > begin) begin = from;  // each moment counts once
    }
    return parts;
  }

  void Bind(const Computation& callee, size_t parameter, Leaves leaves) {
    if (parameter < callee.parameters.size() && callee.parameters[parameter] != nullptr)
      values_.Set(*callee.parameters[parameter], std::move(leaves));
  }

  // Simulates two iterations. The second one represents all later iterations.
  void Loop(const Instruction& loop, double weight) {
    const Computation* body = BodyOf(loop);
    const Computation* condition = ConditionOf(loop);
    const TripCount* trips = input_.facts.executions().FindTripCount(loop);
    const auto iterations = static_cast<double>(trips != nullptr ? std::max<int64_t>(0, trips->count) : 1);
    if (body == nullptr || body->root == nullptr || iterations <= 0) return;
    // The host of a GPU reads the condition after every iteration, unless the trip count is known. If the module has no
    // schedule yet, assume that XLA will infer the same trip count as shoal.
    const bool host_knows = !MemberOf(ConfigOf(loop), "known_trip_count").empty() ||
                            (plan_.is_estimated && trips != nullptr && trips->known() && trips->from != TripCount::Provenance::kGiven);
    if (!host_knows) RoundTrips(iterations, weight);
    Leaves state = loop.operands.empty() ? values_.Fresh(loop.shape()) : values_.Of(*loop.operands[0]);
    const bool was_in_later_iteration = in_later_iteration_;
    for (int i = 0; i < std::min(iterations, 2.0); ++i) {
      in_later_iteration_ = i > 0;
      const double body_weight = i == 0 ? weight : weight * (iterations - 1);
      const double begin = now_;
      Bind(*body, 0, state);
      if (condition != nullptr && !(host_knows && machine_.device.kind == DeviceKind::kGpu)) {
        Bind(*condition, 0, state);
        RunBlock(*condition, body_weight);
      }
      RunBlock(*body, body_weight);
      state = values_.Of(*body->root);
      if (i == 1) SkipIterations((iterations - 2) * (now_ - begin), iterations - 2, loop);
    }
    in_later_iteration_ = was_in_later_iteration;
    values_.Set(loop, std::move(state));
  }

  void SkipIterations(double seconds, double iterations, const Instruction& loop) {
    if (iterations <= 0) return;
    if (recording_) recorder_.RemainingIterations(loop, iterations, now_, seconds);
    now_ += seconds;
    for (double& free : free_) free += seconds;
    for (auto& [async, end] : ends_) end += seconds;
    for (auto& stream : transfers_)
      for (Transfer& transfer : stream) transfer.begin += seconds, transfer.end += seconds;
  }

  void Call(const Instruction& call, double weight) {
    for (const Computation* callee : CalledComputations(call)) {
      for (size_t i = 0; i < call.operands.size(); ++i) Bind(*callee, i, values_.Of(*call.operands[i]));
      RunBlock(*callee, weight);
      if (callee->root != nullptr) values_.Set(call, values_.Of(*callee->root));
    }
  }

  // Simulates the branch that the class takes, or, if it is unknown, all branches, weighted by their probabilities.
  void Conditional(const Instruction& conditional, double weight) {
    RoundTrips(1, weight);
    const std::vector<Computation*> branches = CalledComputations(conditional);
    const double all = std::max(1e-300, input_.facts.executions().Of(conditional));
    const auto taken = device_.branches.find(&conditional);
    const double begin = now_;
    double average = 0;
    for (size_t b = 0; b < branches.size(); ++b) {
      const bool is_known = taken != device_.branches.end();
      const double probability = is_known ? (taken->second == b ? 1 : 0) : std::min(1.0, input_.facts.executions().Of(*branches[b]) / all);
      if (probability == 0) continue;
      now_ = begin;
      if (b + 1 < conditional.operands.size()) Bind(*branches[b], 0, values_.Of(*conditional.operands[b + 1]));
      RunBlock(*branches[b], weight * probability);
      average += probability * (now_ - begin);
    }
    now_ = begin + average;
  }

  // Records `times` waits of the host for a value from the device.
  void RoundTrips(double times, double weight) {
    if (recording_ && machine_.device.kind == DeviceKind::kGpu)
      recorder_.RoundTrip(machine_.kernels.round_trip * 1e-6, weight * times);
  }

  const DevicePlanInput& input_;
  const DevicePlan& plan_;
  const Machine& machine_;
  const DeviceClass& device_;
  const size_t class_;
  Arrivals* arrivals_;
  Cache cache_;
  Values values_;
  absl::flat_hash_map<const Instruction*, Leaves> result_leaves_;
  Recorder recorder_;
  bool recording_ = false, in_later_iteration_ = false;
  int depth_ = 0;
  double now_ = 0, throttle_ = 1;
  std::array<double, kStreams> free_{};
  struct Transfer {
    const PlannedAsync* async = nullptr;
    double begin = 0, end = 0;
  };
  std::array<std::deque<Transfer>, kStreams> transfers_;  // those that end after now_, in the order of their starts
  absl::flat_hash_map<const PlannedAsync*, double> ends_;
  absl::flat_hash_map<const PlannedAsync*, size_t> runs_, receives_;
};

}  // namespace

SimulatedStep Simulate(const DevicePlanInput& input, const DevicePlan& plan, const DeviceClasses& classes, size_t c, Arrivals* arrivals) {
  return Simulation(input, plan, classes.all[c], c, arrivals).Run();
}

}  // namespace shoal::internal
