#include "analyze/memory/buffers.h"

#include <algorithm>
#include <tuple>

#include "analyze/memory/alias_analysis.h"
#include "core/ir/buffer_bytes.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

class Buffers::Builder {
 public:
  Builder(const Module& module, const Timeline& timeline, Buffers& out)
      : module_(module), timeline_(timeline), out_(out), links_(timeline, out.positions_), joined_(0) {}

  void Run() {
    MakeValues();
    FindDonated();
    for (const Instruction* hlo : timeline_.steps()) AddUses(*hlo);
    JoinBuffers();
    MakeBuffers();
    for (SharedBuffer& buffer : out_.buffers_) Order(buffer);
    if (timeline_.entry() != nullptr && timeline_.entry()->root != nullptr) MarkOutputs();
  }

 private:
  void MakeValues() {
    const PositionTable& positions = out_.positions_;
    out_.value_at_.assign(positions.count(), 0);
    for (PositionId position = 0; position < positions.count(); ++position) {
      if (links_.DefiningValue(position) != position) continue;
      out_.value_at_[position] = static_cast<uint32_t>(out_.values_.size());
      LiveValue value{position, &positions.InstructionAt(position), &positions.ShapeAt(position), 0, 0, 0, 0};
      value.bytes = BufferBytes(*value.shape);
      value.start = value.end = positions.TimeAt(position);
      // Parameters are live from the start of their computation.
      if (IsParameter(*value.hlo)) value.start = timeline_.SpanOf(*value.hlo->parent)->start;
      out_.values_.push_back(value);
    }
    for (PositionId position = 0; position < positions.count(); ++position) {
      out_.value_at_[position] = out_.value_at_[links_.DefiningValue(position)];
      Extend(position, EndOf(positions.InstructionAt(position)));
    }
  }

  // The end of the live range of an instruction without uses.
  int64_t EndOf(const Instruction& hlo) const {
    const Timeline::Span& span = *timeline_.SpanOf(*hlo.parent);
    const int64_t end = &hlo == hlo.parent->root ? span.end : timeline_.TimeOf(hlo);
    return std::max(end, span.until);
  }

  void Extend(PositionId position, int64_t end) {
    LiveValue& value = out_.values_[out_.value_at_[position]];
    value.end = std::max(value.end, end);
  }

  // Finds the argument positions that alias outputs.
  void FindDonated() {
    donated_.assign(out_.positions_.count(), false);
    for (const InputOutputAlias& alias : module_.input_output_alias)
      if (const Part part = ArgumentPart(alias); part.shape != nullptr) donated_[part.position] = true;
    // Arguments that are not donated are live until the end.
    for (LiveValue& value : out_.values_)
      if (IsArgument(value) && !donated_[value.position]) value.end = timeline_.end();
  }
  Part ArgumentPart(const InputOutputAlias& alias) const {
    const auto& parameters = module_.entry->parameters;
    if (alias.parameter < 0 || alias.parameter >= std::ssize(parameters)) return {};
    const Instruction* parameter = parameters[static_cast<size_t>(alias.parameter)];
    return parameter == nullptr ? Part() : out_.positions_.At(out_.positions_.Of(*parameter), alias.parameter_index);
  }
  bool IsArgument(const LiveValue& value) const {
    return IsParameter(*value.hlo) && value.hlo->parent == timeline_.entry();
  }

  void AddUses(const Instruction& user) {
    if (Has(Forwarding::kTuple | Forwarding::kDomain, ForwardingOf(user))) return;
    if (IsCall(user) && IsInlined(user)) return;
    const bool top_only = IsGetTupleElement(user) || IsCopy(user);
    const int64_t time = TimeOfUse(user);
    for (const Instruction* operand : user.operands) {
      const Part part = out_.positions_.Of(*operand);
      if (part.shape == nullptr) continue;
      const PositionId size = top_only ? 1 : out_.positions_.Size(*part.shape);
      for (PositionId i = 0; i < size; ++i) Extend(part.position + i, time);
    }
  }
  bool IsInlined(const Instruction& caller) const {
    const std::vector<const Computation*> callees = ExecutedComputations(caller);
    return std::any_of(callees.begin(), callees.end(),
                       [&](const Computation* callee) { return timeline_.RunsAt(*callee, caller); });
  }
  // The initial state of a loop is live until the body's parameter is defined.
  int64_t TimeOfUse(const Instruction& user) const {
    const Computation* body = IsLoop(user) ? BodyOf(user) : nullptr;
    const bool has =
        body != nullptr && timeline_.RunsAt(*body, user) && !body->parameters.empty() && body->parameters[0] != nullptr;
    return timeline_.TimeOf(has ? *body->parameters[0] : user);
  }

  void JoinBuffers() {
    joined_ = UnionFind(out_.values_.size());
    for (const AliasEdge& edge : links_.edges()) {
      const uint32_t before = out_.ValueAt(edge.before), after = out_.ValueAt(edge.after);
      if (edge.is_must_alias || module_.is_scheduled || MayBeAliased(out_.values_[before], out_.values_[after]))
        joined_.Join(after, before);
    }
    if (timeline_.entry() == nullptr || timeline_.entry()->root == nullptr) return;
    const Part result = out_.positions_.Of(*timeline_.entry()->root);
    for (const InputOutputAlias& alias : module_.input_output_alias) {
      const Part output = out_.positions_.At(result, alias.output_index), argument = ArgumentPart(alias);
      if (output.shape != nullptr && argument.shape != nullptr)
        joined_.Join(out_.ValueAt(output.position), out_.ValueAt(argument.position));
    }
  }
  // For a module without a schedule, true if XLA needs no copy to let the two values share a buffer.
  bool MayBeAliased(const LiveValue& before, const LiveValue& after) const {
    const bool is_fixed = IsConstant(*before.hlo) || (IsArgument(before) && !donated_[before.position]);
    return !is_fixed && before.end <= std::max(after.start, out_.positions_.TimeAt(after.position));
  }

  void MakeBuffers() {
    std::vector<uint32_t> buffer_of(out_.values_.size(), UINT32_MAX);
    for (uint32_t v = 0; v < out_.values_.size(); ++v) {
      uint32_t& number = buffer_of[joined_.Find(v)];
      if (number == UINT32_MAX) {
        number = static_cast<uint32_t>(out_.buffers_.size());
        out_.buffers_.emplace_back();
      }
      LiveValue& value = out_.values_[v];
      value.buffer = number;
      SharedBuffer& buffer = out_.buffers_[number];
      buffer.values.push_back(v);
      buffer.bytes = std::max(buffer.bytes, value.bytes);
      buffer.memory_space = std::max(buffer.memory_space, MemorySpaceOf(*value.shape));
      buffer.is_argument |= IsArgument(value);
      buffer.is_donated |= donated_[value.position];
      buffer.is_constant |= IsConstant(*value.hlo);
      buffer.is_tuple |= value.shape->IsTuple();
    }
  }

  // Makes the values of a buffer consecutive. Each value ends when the next one is defined.
  void Order(SharedBuffer& buffer) {
    std::sort(buffer.values.begin(), buffer.values.end(), [&](uint32_t a, uint32_t b) {
      const LiveValue &x = out_.values_[a], &y = out_.values_[b];
      return std::tie(x.start, x.end, a) < std::tie(y.start, y.end, b);
    });
    for (size_t i = 0; i + 1 < buffer.values.size(); ++i) {
      LiveValue &value = out_.values_[buffer.values[i]], &next = out_.values_[buffer.values[i + 1]];
      next.end = std::max(value.end, next.end);
      value.end = std::min(value.end, next.start);
    }
  }

  void MarkOutputs() {
    const Part result = out_.positions_.Of(*timeline_.entry()->root);
    for (PositionId i = 0; i < out_.positions_.Size(*result.shape); ++i)
      out_.buffers_[out_.values_[out_.ValueAt(result.position + i)].buffer].is_output = true;
  }

  const Module& module_;
  const Timeline& timeline_;
  Buffers& out_;
  AliasAnalysis links_;
  UnionFind joined_;
  std::vector<bool> donated_;
};

Buffers::Buffers(const Module& module, const Timeline& timeline) : positions_(timeline) {
  Builder(module, timeline, *this).Run();
}

}  // namespace shoal::internal
