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
  Simulation(const DevicePlanInput& input, const DevicePlan& plan, const DeviceClass& device, size_t class_number, Arrivals* arrivals)
      : input_(input), plan_(plan), machine_(input.machine), device_(device), class_(class_number), arrivals_(arrivals),
        cache_(machine_.device.cache * machine_.kernels.cache_share), recorder_(input, plan, device.name) {}

  SimulatedStep Run() {
    if (input_.module.entry == nullptr) return recorder_.Finish(0);
    // Once to fill the cache, as the step before did.
    recording_ = false;
    Block(*input_.module.entry, 1);
    // A device that multiplies for long is slowed down by its power; in a tenth of a second that begins to show.
    const double lasting = std::clamp(std::log10(std::max(1e-9, now_) / .1), 0.0, 1.0);
    throttle_ = 1 - (1 - std::clamp(machine_.device.sustained, .01, 1.0)) * lasting;
    Restart();
    recording_ = true;
    if (arrivals_ != nullptr) arrivals_->Begin(class_);
    Block(*input_.module.entry, 1);
    for (double free : free_) WaitUntil(free, nullptr, 1);
    return recorder_.Finish(NewResultBytes());
  }

 private:
  void Restart() {
    now_ = 0;
    free_.fill(0);
    ends_.clear();
    runs_.clear();
    receives_.clear();
  }

  // Of the results that do not take the place of a donated argument.
  double NewResultBytes() const {
    const Module& module = input_.module;
    double bytes = module.entry->root == nullptr ? 0 : DataBytes(module.entry->root->shape());
    for (const InputOutputAlias& alias : module.input_output_alias)
      if (const Shape* kept = module.entry->root->shape().At(alias.output_index)) bytes -= DataBytes(*kept);
    return std::max(0.0, bytes);
  }

  void Block(const Computation& computation, double weight) {
    auto block = plan_.blocks.find(&computation);
    if (block == plan_.blocks.end() || ++depth_ > 64) return void(depth_ = std::max(0, depth_));
    for (const DevicePlanOp& step : block->second) Step(step, weight);
    --depth_;
  }

  void Step(const DevicePlanOp& step, double weight) {
    switch (step.kind) {
      case DevicePlanOp::Kind::kNoOp: return void(values_.HandOn(*step.hlo));
      case DevicePlanOp::Kind::kKernel: return Execute(step, weight);
      case DevicePlanOp::Kind::kCollective:
        Execute(step, weight);
        Start(step, weight);
        return Wait(step, weight);
      case DevicePlanOp::Kind::kStart:
        Execute(step, weight);
        return Start(step, weight);
      case DevicePlanOp::Kind::kDone:
        Wait(step, weight);
        return Execute(step, weight);
      case DevicePlanOp::Kind::kReceive: return Receive(step, weight);
      case DevicePlanOp::Kind::kLoop: return Loop(*step.hlo, weight);
      case DevicePlanOp::Kind::kCall: return Call(*step.hlo, weight);
      case DevicePlanOp::Kind::kConditional: return Conditional(*step.hlo, weight);
    }
  }

  static bool IsNear(const Shape& shape) { return shape.layout() != nullptr && shape.layout()->memory_space == 1; }

  CacheTraffic TrafficOf(const DevicePlanOp& step, KernelDescriptor& kernel) {
    CacheTraffic traffic;
    const bool tpu = machine_.device.kind == DeviceKind::kTpu;
    for (size_t i = 0; i < step.inputs.size() && i < kernel.reads.size(); ++i) {
      const double bytes = kernel.reads[i];
      if (bytes <= 0 || step.inputs[i] == nullptr) continue;
      if (tpu) {
        (IsNear(step.inputs[i]->shape()) ? traffic.hit : traffic.miss) += bytes;
        continue;
      }
      // A part of a value is another part each time.
      const bool part = bytes < .99 * DataBytes(step.inputs[i]->shape());
      const Leaves& leaves = values_.Of(*step.inputs[i]);
      const double hit = cache_.Touch(part || leaves.empty() ? values_.FreshLeaf() : leaves.front(), bytes);
      traffic.hit += hit;
      traffic.miss += bytes - hit;
    }
    if (tpu && IsNear(step.hlo->shape())) traffic.hit += kernel.written, kernel.written = 0;
    return traffic;
  }

  // A buffer is the same in every step and every round.
  const Leaves& OwnLeaves(const Instruction& hlo) {
    auto [found, inserted] = own_.try_emplace(&hlo);
    if (inserted) found->second = values_.Fresh(hlo.shape());
    return found->second;
  }

  // Puts what is written into the cache; how many of these bytes were there.
  double Written(const Instruction& hlo, const Leaves& leaves, double bytes) {
    const Shape& shape = hlo.shape();
    if (!shape.IsTuple() || shape.elements().size() != leaves.size()) return cache_.Touch(leaves.front(), bytes);
    double there = 0, left = bytes;  // a workspace comes last, and is not among them
    for (size_t i = 0; i < leaves.size() && left > 0; ++i) {
      const double part = std::min(left, DataBytes(shape.element(static_cast<int64_t>(i))));
      there += cache_.Touch(leaves[i], part);
      left -= part;
    }
    return there;
  }

  void Execute(const DevicePlanOp& step, double weight) {
    if (step.kernel.family == KernelKind::kNothing) return;
    KernelDescriptor kernel = step.kernel;
    CacheTraffic traffic = TrafficOf(step, kernel);
    Leaves result = kernel.in_place >= 0 && static_cast<size_t>(kernel.in_place) < step.inputs.size()
                        ? values_.Of(*step.inputs[static_cast<size_t>(kernel.in_place)])
                        : OwnLeaves(*step.hlo);
    if (!result.empty() && machine_.device.kind == DeviceKind::kGpu) traffic.write_hit = Written(*step.hlo, result, kernel.written);
    values_.Set(*step.hlo, std::move(result));
    const KernelTime timing = EstimateKernelTime(kernel, traffic, machine_);
    const double alone = KindOfKernel(kernel.family) == TimeKind::kMatrix ? timing.seconds / throttle_ : timing.seconds;
    // Collectives take cores and bandwidth from what runs beside them.
    const double pending = std::max({0.0, free_[kNodeLinks] - now_, free_[kNetwork] - now_});
    const double seconds = alone + machine_.kernels.contention * std::min(alone, pending);
    if (recording_) recorder_.Kernel(step, kernel, traffic, timing, now_, seconds, weight);
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

  void Start(const DevicePlanOp& step, double weight) {
    const PlannedAsync& async = *step.async;
    const bool meets = arrivals_ != nullptr && async.use != nullptr;
    const bool sends = IsSendKind(async.kind);
    if (meets && !(sends ? arrivals_->Sends(class_, async) : arrivals_->TakesPart(class_, async))) return;
    const Stream stream = StreamOf(async);
    // What needs nothing of this round began as soon as its stream was free.
    const double ready = async.from_last_round && in_later_round_ ? std::min(now_, free_[stream]) : now_;
    double begin = std::max(ready, free_[stream]);
    if (meets && recording_) {
      const size_t run = runs_[&async]++;
      arrivals_->Arrive(class_, async, run, begin);
      if (!sends) begin = std::max(begin, arrivals_->Others(class_, async, run));
    }
    free_[stream] = begin + async.timing.seconds;
    ends_[&async] = free_[stream];
    if (recording_) recorder_.Transfer(step, stream, begin, weight);
  }

  // What is sent to this device has come when its sender's transfer is over.
  void Receive(const DevicePlanOp& step, double weight) {
    if (arrivals_ == nullptr || !recording_) return;
    const double sent = arrivals_->Others(class_, *step.async, receives_[step.async]++);
    if (sent > 0) WaitUntil(sent + step.async->timing.seconds, step.async, weight);
  }

  void Wait(const DevicePlanOp& step, double weight) {
    auto found = ends_.find(step.async);
    if (found == ends_.end()) return;  // it began in a round that is not there
    WaitUntil(found->second, step.async, weight);
    ends_.erase(found);
  }

  void WaitUntil(double end, const PlannedAsync* async, double weight) {
    if (end <= now_) return;
    if (recording_) recorder_.Wait(async, now_, end - now_, weight);
    now_ = end;
  }

  void Bind(const Computation& callee, size_t parameter, Leaves leaves) {
    if (parameter < callee.parameters.size() && callee.parameters[parameter] != nullptr)
      values_.Set(*callee.parameters[parameter], std::move(leaves));
  }

  // The first round, one like all others, and as many times that one as are left.
  void Loop(const Instruction& loop, double weight) {
    const Computation* body = BodyOf(loop);
    const Computation* condition = ConditionOf(loop);
    const TripCount* trips = input_.executions.FindTrips(loop);
    const auto rounds = static_cast<double>(trips != nullptr ? std::max<int64_t>(0, trips->count) : 1);
    if (body == nullptr || body->root == nullptr || rounds <= 0) return;
    // The host of a GPU asks after every round whether there is another, unless it knows how many there are.
    // A module that has no schedule yet will be told what can be inferred.
    const bool host_knows = !MemberOf(ConfigOf(loop), "known_trip_count").empty() ||
                            (plan_.ours && trips != nullptr && trips->known() && trips->from != TripCount::Provenance::kGiven);
    if (!host_knows) RoundTrips(rounds, weight);
    Leaves state = loop.operands.empty() ? values_.Fresh(loop.shape()) : values_.Of(*loop.operands[0]);
    const bool outer_round = in_later_round_;
    for (int round = 0; round < std::min(rounds, 2.0); ++round) {
      in_later_round_ = round > 0;
      const double each = round == 0 ? weight : weight * (rounds - 1);
      const double begin = now_;
      Bind(*body, 0, state);
      if (condition != nullptr && !(host_knows && machine_.device.kind == DeviceKind::kGpu)) {
        Bind(*condition, 0, state);
        Block(*condition, each);
      }
      Block(*body, each);
      state = values_.Of(*body->root);
      if (round == 1) Skip((rounds - 2) * (now_ - begin), rounds - 2, loop);
    }
    in_later_round_ = outer_round;
    values_.Set(loop, std::move(state));
  }

  void Skip(double seconds, double rounds, const Instruction& loop) {
    if (rounds <= 0) return;
    if (recording_) recorder_.Rounds(loop, rounds, now_, seconds);
    now_ += seconds;
    for (double& free : free_) free += seconds;
    for (auto& [async, end] : ends_) end += seconds;
  }

  void Call(const Instruction& call, double weight) {
    for (const Computation* callee : CalledComputations(call)) {
      for (size_t i = 0; i < call.operands.size(); ++i) Bind(*callee, i, values_.Of(*call.operands[i]));
      Block(*callee, weight);
      if (callee->root != nullptr) values_.Set(call, values_.Of(*callee->root));
    }
  }

  // The branch that the class takes; else all, as likely as they are counted, on average.
  void Conditional(const Instruction& conditional, double weight) {
    RoundTrips(1, weight);
    const std::vector<Computation*> branches = CalledComputations(conditional);
    const double all = std::max(1e-300, input_.executions.Of(conditional));
    const auto taken = device_.branches.find(&conditional);
    const double begin = now_;
    double average = 0;
    for (size_t b = 0; b < branches.size(); ++b) {
      const bool known = taken != device_.branches.end();
      const double share = known ? (taken->second == b ? 1 : 0) : std::min(1.0, input_.executions.Of(*branches[b]) / all);
      if (share == 0) continue;
      now_ = begin;
      if (b + 1 < conditional.operands.size()) Bind(*branches[b], 0, values_.Of(*conditional.operands[b + 1]));
      Block(*branches[b], weight * share);
      average += share * (now_ - begin);
    }
    now_ = begin + average;
  }

  // The host waits for a number from the device, `times` times.
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
  absl::flat_hash_map<const Instruction*, Leaves> own_;  // of results
  Recorder recorder_;
  bool recording_ = false, in_later_round_ = false;
  int depth_ = 0;
  double now_ = 0, throttle_ = 1;
  std::array<double, kStreams> free_{};
  absl::flat_hash_map<const PlannedAsync*, double> ends_;
  absl::flat_hash_map<const PlannedAsync*, size_t> runs_, receives_;
};

}  // namespace

SimulatedStep Simulate(const DevicePlanInput& input, const DevicePlan& plan, const DeviceClasses& classes, size_t c, Arrivals* arrivals) {
  return Simulation(input, plan, classes.all[c], c, arrivals).Run();
}

}  // namespace shoal::internal
