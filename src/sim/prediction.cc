#include "sim/prediction.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "ir/source_place.h"
#include "ops/families.h"
#include "sim/cache.h"
#include "sim/kernel_traffic.h"
#include "sim/values.h"

namespace shoal {
namespace {

constexpr size_t kMostEvents = 200000;
enum Stream : uint32_t { kCompute, kNodeLinks, kNetwork, kCopies, kStreams };

TimeKind KindOfKernel(KernelFamily family) {
  switch (family) {
    case KernelFamily::kProduct:
    case KernelFamily::kTritonProduct:
    case KernelFamily::kConvolution:
    case KernelFamily::kAttention: return TimeKind::kMatrix;
    case KernelFamily::kHostCopy: return TimeKind::kCopy;
    default: return TimeKind::kMemory;
  }
}

class Simulation {
 public:
  Simulation(const PlanInput& input, const StepPlan& plan)
      : input_(input), plan_(plan), machine_(input.machine),
        cache_(machine_.device.cache * machine_.kernels.cache_share) {
    result_.schedule_is_ours = plan.ours;
    result_.notes = plan.notes;
    result_.trace.source = "predicted";
    result_.trace.devices = {"every device"};
    result_.trace.streams = {"kernels", "collectives in the node", "collectives over the network", "copies"};
  }

  Prediction Run() {
    if (input_.module.entry == nullptr) return std::move(result_);
    // Once to fill the cache, as the step before did.
    recording_ = false;
    Block(*input_.module.entry, 1);
    // A device that multiplies for long is slowed down by its power; in a tenth of a second that begins to show.
    const double lasting = std::clamp(std::log10(std::max(1e-9, now_) / .1), 0.0, 1.0);
    throttle_ = 1 - (1 - std::clamp(machine_.device.sustained, .01, 1.0)) * lasting;
    Restart();
    recording_ = true;
    Block(*input_.module.entry, 1);
    for (double free : free_) WaitUntil(free, nullptr, 1);
    Finish();
    return std::move(result_);
  }

 private:
  void Restart() {
    now_ = 0;
    free_.fill(0);
    ends_.clear();
    started_.clear();
  }

  void Block(const Computation& computation, double weight) {
    auto block = plan_.blocks.find(&computation);
    if (block == plan_.blocks.end() || ++depth_ > 64) return void(depth_ = std::max(0, depth_));
    for (const PlanStep& step : block->second) Step(step, weight);
    --depth_;
  }

  void Step(const PlanStep& step, double weight) {
    switch (step.kind) {
      case PlanStep::Kind::kPlumbing: return void(values_.HandOn(*step.hlo));
      case PlanStep::Kind::kKernel: return Execute(step, weight);
      case PlanStep::Kind::kCollective:
        Execute(step, weight);
        Start(step, weight);
        return Wait(step, weight);
      case PlanStep::Kind::kStart:
        Execute(step, weight);
        return Start(step, weight);
      case PlanStep::Kind::kDone:
        Wait(step, weight);
        return Execute(step, weight);
      case PlanStep::Kind::kLoop: return Loop(*step.hlo, weight);
      case PlanStep::Kind::kCall: return Call(*step.hlo, weight);
      case PlanStep::Kind::kConditional: return Conditional(*step.hlo, weight);
    }
  }

  // ---- kernels

  static bool IsNear(const Shape& shape) { return shape.layout() != nullptr && shape.layout()->memory_space == 1; }

  CacheTraffic TrafficOf(const PlanStep& step, DeviceKernel& kernel) {
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

  void Execute(const PlanStep& step, double weight) {
    if (step.kernel.family == KernelFamily::kNothing) return;
    DeviceKernel kernel = step.kernel;
    CacheTraffic traffic = TrafficOf(step, kernel);
    Leaves result = kernel.in_place >= 0 && static_cast<size_t>(kernel.in_place) < step.inputs.size()
                        ? values_.Of(*step.inputs[static_cast<size_t>(kernel.in_place)])
                        : OwnLeaves(*step.hlo);
    if (!result.empty() && machine_.device.kind == DeviceKind::kGpu)
      traffic.write_hit = cache_.Touch(result.front(), kernel.written);
    values_.Set(*step.hlo, std::move(result));
    KernelPrice price = PriceOf(kernel, traffic, machine_);
    if (KindOfKernel(kernel.family) == TimeKind::kMatrix) price.seconds /= throttle_;
    // Collectives take cores and bandwidth from what runs beside them.
    const double under_way = std::max({0.0, free_[kNodeLinks] - now_, free_[kNetwork] - now_});
    const double seconds = price.seconds + machine_.kernels.contention * std::min(price.seconds, under_way);
    if (recording_) Record(step, kernel, traffic, price, seconds, weight);
    now_ += seconds;
    if (machine_.device.kind == DeviceKind::kGpu) {
      const double gap = machine_.kernels.gap * 1e-6 * price.launches;
      now_ += gap;
      gaps_ += weight * gap;
    }
  }

  void Record(const PlanStep& step, const DeviceKernel& kernel, const CacheTraffic& traffic, const KernelPrice& price,
              double seconds, double weight) {
    auto [found, inserted] = op_of_.try_emplace(step.hlo, result_.ops.size());
    if (inserted) result_.ops.push_back({step.hlo, kernel.family, KindOfKernel(kernel.family), 0, 0, 0, 0, {}, {}, {}});
    OpTime& op = result_.ops[found->second];
    op.times += weight;
    op.seconds += weight * seconds;
    op.flops += weight * kernel.flops;
    op.bytes += weight * (kernel.read() + kernel.written);
    op.price = price;
    op.traffic = traffic;
    op.kernel = kernel;
    result_.launches += weight * price.launches;
    result_.kinds[static_cast<size_t>(op.kind)] += weight * seconds;
    AddEvent(std::string(step.hlo->name), kCompute, now_, seconds, std::string(ToString(op.kind)), weight,
             {{"bound", std::string(ToString(price.bound))}, {"kernel", std::string(ToString(kernel.family))}}, step.hlo);
  }

  // ---- what goes on beside them

  static Stream StreamOf(const PlannedAsync& async) {
    if (async.use == nullptr) return kCopies;
    return async.price.fabric == Fabric::kNetwork ? kNetwork : kNodeLinks;
  }

  void Start(const PlanStep& step, double weight) {
    const PlannedAsync& async = *step.async;
    const Stream stream = StreamOf(async);
    // What needs nothing of this round began as soon as its stream was free.
    const double ready = async.from_last_round && in_later_round_ ? std::min(now_, free_[stream]) : now_;
    const double begin = std::max(ready, free_[stream]);
    free_[stream] = begin + async.price.seconds;
    ends_[&async] = free_[stream];
    if (!recording_) return;
    AsyncTime& time = AsyncOf(async);
    time.times += weight;
    time.seconds += weight * async.price.seconds;
    if (async.use != nullptr) result_.launches += weight;
    const size_t event =
        AddEvent(std::string(step.hlo->name), stream, begin, async.price.seconds, "communication", weight,
                 {{"algorithm", async.price.algorithm}, {"bytes", StrCat(async.bytes)}, {"members", StrCat(async.place.members)}},
                 step.hlo);
    started_[&async] = event;
  }

  void Wait(const PlanStep& step, double weight) {
    auto found = ends_.find(step.async);
    if (found == ends_.end()) return;  // it began in a round that is not there
    WaitUntil(found->second, step.async, weight);
    ends_.erase(found);
  }

  void WaitUntil(double end, const PlannedAsync* async, double weight) {
    if (end <= now_) return;
    const double wait = end - now_;
    if (recording_) {
      const bool copy = async != nullptr && async->use == nullptr;
      result_.kinds[static_cast<size_t>(copy ? TimeKind::kCopy : TimeKind::kCommunication)] += weight * wait;
      if (async != nullptr) {
        AsyncOf(*async).exposed += weight * wait;
        const size_t event = AddEvent(StrCat("wait for ", async->start->name), kCompute, now_, wait, "exposed", weight, {}, nullptr);
        if (auto from = started_.find(async); from != started_.end() && event < kMostEvents)
          result_.trace.flows.push_back({from->second, event});
      } else {
        AddEvent("wait for collectives", kCompute, now_, wait, "exposed", weight, {}, nullptr);
      }
    }
    now_ = end;
  }

  AsyncTime& AsyncOf(const PlannedAsync& async) {
    auto [found, inserted] = async_of_.try_emplace(&async, result_.asyncs.size());
    if (inserted) result_.asyncs.push_back({&async, 0, 0, 0});
    return result_.asyncs[found->second];
  }

  // ---- computations

  void Bind(const Computation& callee, size_t parameter, Leaves leaves) {
    if (parameter < callee.parameters.size() && callee.parameters[parameter] != nullptr)
      values_.Set(*callee.parameters[parameter], std::move(leaves));
  }

  // The first round, one like all others, and as many times that one as are left.
  void Loop(const Instruction& loop, double weight) {
    const Computation* body = loop[Op<Opcode::kWhile>::kBody];
    const Computation* condition = loop[Op<Opcode::kWhile>::kCondition];
    const TripCount* trips = input_.executions.FindTrips(loop);
    const auto rounds = static_cast<double>(trips != nullptr ? std::max<int64_t>(0, trips->count) : 1);
    if (body == nullptr || body->root == nullptr || rounds <= 0) return;
    Leaves state = loop.operands.empty() ? values_.Fresh(loop.shape()) : values_.Of(*loop.operands[0]);
    const bool outer_round = in_later_round_;
    for (int round = 0; round < std::min(rounds, 2.0); ++round) {
      in_later_round_ = round > 0;
      const double each = round == 0 ? weight : weight * (rounds - 1);
      const double begin = now_;
      Bind(*body, 0, state);
      if (condition != nullptr) {
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
    if (recording_)
      AddEvent(StrCat(loop.name, ": ", rounds, " more rounds"), kCompute, now_, seconds, "loop", 1, {}, nullptr);
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

  // Branches are as likely as they are counted; the device takes as long as they take on average.
  void Conditional(const Instruction& conditional, double weight) {
    const double all = std::max(1e-300, input_.executions.Of(conditional));
    const double begin = now_;
    double average = 0;
    for (const Computation* branch : CalledComputations(conditional)) {
      const double share = std::min(1.0, input_.executions.Of(*branch) / all);
      now_ = begin;
      for (size_t i = 1; i < conditional.operands.size(); ++i) Bind(*branch, 0, values_.Of(*conditional.operands[i]));
      Block(*branch, weight * share);
      average += share * (now_ - begin);
    }
    now_ = begin + average;
  }

  // ---- results

  size_t AddEvent(std::string name, Stream stream, double start, double seconds, std::string category, double times,
                  std::vector<std::pair<std::string, std::string>> details, const Instruction* hlo) {
    std::vector<TraceEvent>& events = result_.trace.events;
    if (events.size() >= kMostEvents) return kMostEvents;
    if (hlo != nullptr)
      if (const Metadata* metadata = (*hlo)[kMetadata])
        if (std::string place = SourcePlace(*metadata, input_.module.stack_frames); !place.empty())
          details.emplace_back("source", std::move(place));
    events.push_back({std::move(name), 0, stream, start, seconds, std::move(category), std::move(details), times, hlo});
    return events.size() - 1;
  }

  void Finish() {
    for (const OpTime& op : result_.ops) result_.flops += op.flops, result_.bytes += op.bytes;
    for (size_t i = 0; i < kTimeKinds; ++i)
      if (i != static_cast<size_t>(TimeKind::kIdle)) result_.device_seconds += result_.kinds[i];
    const bool gpu = machine_.device.kind == DeviceKind::kGpu;
    const double start = gpu ? machine_.kernels.step_start * 1e-6 : 0;
    const double device = result_.device_seconds + gaps_ + start;
    result_.host_seconds = machine_.device.host_start + (gpu ? machine_.device.launch * result_.launches : 0);
    result_.step_seconds = std::max(device, result_.host_seconds);
    result_.kinds[static_cast<size_t>(TimeKind::kIdle)] = result_.step_seconds - result_.device_seconds;
    std::stable_sort(result_.ops.begin(), result_.ops.end(), [](const OpTime& a, const OpTime& b) { return a.seconds > b.seconds; });
    std::stable_sort(result_.asyncs.begin(), result_.asyncs.end(),
                     [](const AsyncTime& a, const AsyncTime& b) { return a.exposed > b.exposed; });
  }

  const PlanInput& input_;
  const StepPlan& plan_;
  const Machine& machine_;
  Cache cache_;
  Values values_;
  absl::flat_hash_map<const Instruction*, Leaves> own_;  // of results
  Prediction result_;
  bool recording_ = false, in_later_round_ = false;
  int depth_ = 0;
  double now_ = 0, gaps_ = 0, throttle_ = 1;
  std::array<double, kStreams> free_{};
  absl::flat_hash_map<const PlannedAsync*, double> ends_;
  absl::flat_hash_map<const PlannedAsync*, size_t> started_, async_of_;
  absl::flat_hash_map<const Instruction*, size_t> op_of_;
};

}  // namespace

std::string_view ToString(TimeKind kind) {
  constexpr std::string_view kNames[] = {"matrix", "memory", "communication", "copy", "idle"};
  return kNames[static_cast<size_t>(kind)];
}

Prediction Predict(const PlanInput& input) {
  auto plan = std::make_shared<const StepPlan>(StepPlanOf(input));
  Prediction prediction = Simulation(input, *plan).Run();
  prediction.plan = std::move(plan);
  return prediction;
}

}  // namespace shoal
