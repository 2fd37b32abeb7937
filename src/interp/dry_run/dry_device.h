// A device of a dry run: dry_run.h's own. Each rule gives the value of an op as its evaluator would, with arrays that
// have no elements, and holds and drops its operands as the evaluator does.
#pragma once

#include <map>

#include "collectives/chain.h"
#include "interp/control/collective.h"
#include "interp/dry_run/dry_run.h"

namespace shoal {

// An array, or a tuple of them, that is counted but not there.
Array Imagined(ElementType type, Ints dims);
Value Imagined(const Shape& shape);
// Nobody writes its arrays any more.
void Fix(const Value& value);

class DryDevice {
 public:
  DryDevice(const Plans& plans, const Participation& participation, int64_t id, const DryRunAnswers& answers)
      : plans_(plans), participation_(participation), id_(id), answers_(answers) {}

  DryRunResult RunEntry();

 private:
  struct DryCall {
    const Instruction& hlo;
    std::span<Value> operands;
  };
  using Rule = Value (DryDevice::*)(DryCall& call);
  static Rule RuleOf(Opcode opcode);

  // As Device::Run.
  Value Run(const Computation& computation, std::vector<Value> arguments);

  // What belongs to no device, and nobody writes.
  static Value Uncounted(const Shape& shape);

  // As Device::RunStep.
  Value RunStep(const Step& step, std::span<Value> values);

  Value Evaluate(DryCall& call);

  Value New(DryCall& call);
  Value HandOn(DryCall& call);
  Value Share(DryCall& call);

  // EvaluateElementwise: in the place of the first operand that has the result's width and is nobody else's.
  Value Elementwise(DryCall& call);

  Value Bitcast(DryCall& call);
  Value BitcastConvert(DryCall& call);

  Value Tuple(DryCall& call);
  Value Element(DryCall& call);

  // Operands that are written in place; the others stay until the op ends.
  Value UpdateSlice(DryCall& call);
  Value Scatter(DryCall& call);
  Value RandomBits(DryCall& call);
  // The operands go before the results are there, except where there is nothing to sort.
  Value Sort(DryCall& call);
  // A fold of one element is that element.
  Value Reduce(DryCall& call);
  Value SetDimensionSize(DryCall& call);

  Value CustomCall(DryCall& call);

  // As RunCallee.
  Value Callee(DryCall& call, const Computation& callee);
  Value CallOp(DryCall& call);
  Value Fusion(DryCall& call);

  // The branch whose instructions make most, unless all are one.
  Value Conditional(DryCall& call);

  // What later rounds can see of the state: sizes, and what is nobody else's.
  static void AppendSharing(const Value& state, std::vector<int64_t>& out);

  Value While(DryCall& call);

  // (destination, source, context); (data, context, token)
  Value CopyStart(DryCall& call);
  Value CopyDone(DryCall& call);
  Value Send(DryCall& call);
  Value Recv(DryCall& call);
  Value RecvDone(DryCall& call);

  // Leaves the device, as LeaveDevice has it: what it holds itself, too, is never written again. True if it was its
  // alone.
  static bool Leave(Value& operand);

  // A collective under way: what the device will have.
  struct Pending {
    const Instruction* hlo = nullptr;
    bool alone = false;  // what it gave was its alone
  };
  Value Begin(const Instruction& hlo, std::span<Value> operands);
  Value End(Value value);
  Value EndAll(Value value);

  // Whether other devices get the same array: then nobody writes it. A device that meets nobody gets its own back.
  bool IsShared(const Pending& pending);

  Value Collective(DryCall& call);
  // As the custom calls of custom_calls/reshard.cc.
  Value Reshard(DryCall& call);

  // As AsyncCollectiveStart and AsyncCollectiveDone.
  Value ChainStart(DryCall& call);
  Value ChainDone(DryCall& call);

  // As EvaluateStart and EvaluateDone.
  Value Start(DryCall& call);
  Value Done(DryCall& call);

  // As BeginComputation and Bound.
  Value Wrapped(const Computation& computation, std::vector<Value> arguments);
  Value Bound(DryCall& call, std::vector<Value> operands, Value result);
  Value AsyncStart(DryCall& call);
  Value AsyncUpdate(DryCall& call);
  Value AsyncDone(DryCall& call);

  const Plans& plans_;
  const Participation& participation_;
  int64_t id_;
  int64_t depth_ = 0;
  int64_t steps_ = 0;  // gone through so far
  const DryRunAnswers& answers_;
  MemoryMeter meter_;
  DryRunResult out_;
  std::unordered_map<const Plan*, std::vector<Value>> kept_;
  std::map<ChainKey, std::pair<std::vector<Value>, Value>> chains_;
};

}  // namespace shoal
