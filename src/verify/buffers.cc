// b(…), memory that is written in place, is used where it may be, and written once. What custom calls do with
// it, the op checks.
#include "ops/families.h"
#include "verify/families.h"

namespace shoal {
namespace {

bool HasBuffer(const Shape& shape) {
  bool found = false;
  ForEachLeaf(shape, [&](const Shape& leaf) { found |= leaf.IsBuffer(); });
  return found;
}

bool TouchesBuffer(const Instruction& hlo) {
  return HasBuffer(hlo.shape()) || std::any_of(hlo.operands.begin(), hlo.operands.end(),
                                               [](const Instruction* o) { return HasBuffer(o->shape()); });
}

// Counts who writes into the buffer at a path of an instruction's result. Calls, loops and branches are taken
// to write into what they get.
class Writers {
 public:
  explicit Writers(Inspection& inspection) : inspection_(inspection) {}

  int Count(const Instruction& hlo, Ints path) {
    int count = 0;
    for (const Instruction* user : inspection_.UsersOf(hlo)) {
      if (count > 1 || ++steps_ > kMostSteps) break;
      count += CountIn(*user, hlo, path);
    }
    return count;
  }

 private:
  static constexpr int kMostSteps = 10'000;

  int CountIn(const Instruction& user, const Instruction& hlo, Ints path) {
    static constexpr Opcode kWriters[] = {
        Opcode::kAsyncStart, Opcode::kAsyncUpdate,        Opcode::kCall,   Opcode::kConditional,
        Opcode::kCustomCall, Opcode::kDynamicUpdateSlice, Opcode::kFusion, Opcode::kWhile,
    };
    if (IsOneOf(user, kWriters)) return 1;
    if (user.opcode == Opcode::kGetTupleElement)
      return !path.empty() && user[Op<Opcode::kGetTupleElement>::kIndex] == path[0]
                 ? Count(user, path.subspan(1))
                 : 0;
    if (user.opcode != Opcode::kTuple) return 0;
    if (&user == user.parent->root) return inspection_.IsCalledBy(*user.parent, {Opcode::kWhile}) ? 1 : 0;
    auto operand = std::find(user.operands.begin(), user.operands.end(), &hlo);
    std::vector<int64_t> longer{operand - user.operands.begin()};
    longer.insert(longer.end(), path.begin(), path.end());
    return Count(user, longer);
  }

  Inspection& inspection_;
  int steps_ = 0;
};

// Rule C2.
void CheckWriters(const Instruction& hlo, const Shape& part, std::vector<int64_t>& path,
                  Inspection& inspection) {
  for (size_t i = 0; part.IsTuple() && i < part.elements().size(); ++i) {
    path.push_back(static_cast<int64_t>(i));
    CheckWriters(hlo, *part.elements()[i], path, inspection);
    path.pop_back();
  }
  if (part.IsBuffer() && Writers(inspection).Count(hlo, path) > 1)
    inspection.Add(hlo, "buffer.C2",
                   StrCat("the buffer at ", ToString(Ints(path)), " must have one writer, got more"));
}

// Rule C1, for what uses buffers without being made for it.
void CheckUse(const Instruction& hlo, const Module& module, Inspection& inspection) {
  static constexpr Opcode kMayTouch[] = {
      Opcode::kAsyncDone, Opcode::kAsyncStart,      Opcode::kAsyncUpdate, Opcode::kCustomCall,
      Opcode::kParameter, Opcode::kGetTupleElement, Opcode::kTuple,       Opcode::kWhile,
  };
  bool fits = IsOneOf(hlo, kMayTouch) && (hlo.opcode != Opcode::kParameter || hlo.parent != module.entry);
  if (hlo.opcode == Opcode::kCall) fits = FrontendAttributeOf(hlo, "_xla_stream_annotation") != nullptr;
  if (hlo.opcode == Opcode::kDynamicUpdateSlice) {
    fits = hlo.shape().IsBuffer() && hlo.operand_shape(0).IsBuffer();
    for (const Instruction* operand : hlo.operands.subspan(1)) fits = fits && !HasBuffer(operand->shape());
  }
  if (!fits)
    inspection.Add(hlo, "buffer.C1",
                   StrCat("a buffer must not be used here",
                          hlo.parent == module.entry && hlo.opcode == Opcode::kParameter
                              ? ", in a parameter of the entry computation"
                              : "",
                          ", got ", ToString(hlo.shape())));
}

}  // namespace

void CheckBuffers(Inspection& inspection) {
  static constexpr Opcode kChecked[] = {Opcode::kCustomCall, Opcode::kDynamicUpdateSlice, Opcode::kParameter,
                                        Opcode::kWhile};
  for (const Computation* computation : inspection.computations()) {
    if (inspection.IsAsync(*computation)) continue;
    for (const Instruction* hlo : computation->instructions) {
      if (!TouchesBuffer(*hlo)) continue;
      CheckUse(*hlo, inspection.module(), inspection);
      std::vector<int64_t> path;
      if (IsOneOf(*hlo, kChecked)) CheckWriters(*hlo, hlo->shape(), path, inspection);
    }
  }
}

}  // namespace shoal
