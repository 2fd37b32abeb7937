// Buffers b(…), which are written in place, have one writer and are used only by ops that support them. The rules of
// custom calls check their own use of buffers.
#include "absl/container/flat_hash_map.h"
#include "core/ops/buffer_use.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// Tells whether a shape contains buffers. Each shape is inspected once.
class BufferShapes {
 public:
  bool Has(const Shape& shape) {
    if (!shape.IsTuple()) return shape.IsBuffer();
    if (auto cached = tuples_.find(&shape); cached != tuples_.end()) return cached->second;
    bool found = false;
    for (const Shape* element : shape.elements()) found |= Has(*element);
    tuples_.emplace(&shape, found);
    return found;
  }
  bool Touches(const Instruction& hlo) {
    return Has(hlo.shape()) || std::any_of(hlo.operands.begin(), hlo.operands.end(),
                                           [&](const Instruction* operand) { return Has(operand->shape()); });
  }

 private:
  absl::flat_hash_map<const Shape*, bool> tuples_;
};

// Counts the writers of the buffer at a path of an instruction's result. Calls, loops and branches are assumed to
// write into their operands.
class Writers {
 public:
  explicit Writers(VerifierContext& context) : context_(context) {}

  int Count(const Instruction& hlo, Ints path) {
    int count = 0;
    for (const Instruction* user : context_.UsersOf(hlo)) {
      if (count > 1 || ++steps_ > kMaxSteps) break;
      count += CountIn(*user, hlo, path);
    }
    return count;
  }

 private:
  static constexpr int kMaxSteps = 10'000;

  int CountIn(const Instruction& user, const Instruction& hlo, Ints path) {
    if (WritesBuffers(user)) return 1;
    if (IsGetTupleElement(user))
      return !path.empty() && ElementIndexOf(user) == path[0] ? Count(user, path.subspan(1)) : 0;
    if (!IsTuple(user)) return 0;
    if (&user == user.parent->root) return context_.IsCalledBy(*user.parent, IsLoop) ? 1 : 0;
    auto operand = std::find(user.operands.begin(), user.operands.end(), &hlo);
    std::vector<int64_t> longer{operand - user.operands.begin()};
    longer.insert(longer.end(), path.begin(), path.end());
    return Count(user, longer);
  }

  VerifierContext& context_;
  int steps_ = 0;
};

// Rule C2.
void CheckWriters(const Instruction& hlo, const Shape& part, std::vector<int64_t>& path, BufferShapes& buffers,
                  VerifierContext& context) {
  if (!buffers.Has(part)) return;
  for (size_t i = 0; part.IsTuple() && i < part.elements().size(); ++i) {
    path.push_back(static_cast<int64_t>(i));
    CheckWriters(hlo, *part.elements()[i], path, buffers, context);
    path.pop_back();
  }
  if (part.IsBuffer() && Writers(context).Count(hlo, path) > 1)
    context.Add(hlo, "buffer.C2", StrCat("the buffer at ", ToString(Ints(path)), " must have one writer, got several"));
}

// True if an instruction with buffers may have them.
bool MayTouch(const Instruction& hlo, const Module& module, BufferShapes& buffers) {
  if (IsParameter(hlo)) return hlo.parent != module.entry;
  if (IsCall(hlo)) return FrontendAttributeOf(hlo, "_xla_stream_annotation") != nullptr;
  if (!UpdatesBuffer(hlo)) return MayHoldBuffers(hlo);
  if (hlo.operands.empty() || !hlo.operand_shape(0).IsBuffer()) return false;
  const auto rest = hlo.operands.subspan(1);
  return hlo.shape().IsBuffer() && std::none_of(rest.begin(), rest.end(), [&](const Instruction* operand) {
           return buffers.Has(operand->shape());
         });
}

}  // namespace

void CheckBuffers(VerifierContext& context) {
  const Module& module = context.module();
  BufferShapes buffers;
  for (const Computation* computation : context.computations()) {
    if (context.IsAsync(*computation)) continue;
    for (const Instruction* hlo : computation->instructions) {
      if (!buffers.Touches(*hlo)) continue;
      std::vector<int64_t> path;
      if (ReturnsBuffers(*hlo)) CheckWriters(*hlo, hlo->shape(), path, buffers, context);
      if (MayTouch(*hlo, module, buffers)) continue;
      const bool entry = IsParameter(*hlo);
      context.Add(*hlo, "buffer.C1",
                  entry ? StrCat("the entry computation must not take buffers, got ", ToString(hlo->shape()))
                        : StrCat(Text(hlo->opcode), " must not be used with buffers, got ", ToString(hlo->shape())));
    }
  }
}

}  // namespace shoal::internal
