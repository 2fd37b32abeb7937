#include <algorithm>
#include <memory>

#include "core/ops/families.h"
#include "formats/text/parser.h"
#include "formats/text/printer.h"
#include "mutate.h"

namespace shoal::internal::fuzz {
namespace {

constexpr ElementType kCommonTypes[] = {ElementType::kF32,  ElementType::kF32,  ElementType::kBf16, ElementType::kF64,
                                        ElementType::kS32,  ElementType::kS32,  ElementType::kU8,   ElementType::kPred,
                                        ElementType::kS8,   ElementType::kU32,  ElementType::kF16,  ElementType::kC64,
                                        ElementType::kS4,   ElementType::kU64,  ElementType::kC128, ElementType::kF8e4m3fn};

// Part of every generated module: functions for reductions, comparators and loops.
constexpr std::string_view kFunctions = R"(HloModule generated
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] maximum(a, b) }
mix { a = f32[] parameter(0) b = bf16[] parameter(1) ROOT r = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }
both { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = s32[] parameter(3)
  s = f32[] add(a, c) t = s32[] minimum(b, d) ROOT r = (f32[], s32[]) tuple(s, t) }
negate { a = f32[] parameter(0) ROOT r = f32[] negate(a) }
second { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] copy(b) }
ENTRY e { p = f32[2,3] parameter(0) q = s32[3] parameter(1) s = f32[] parameter(2) i = s32[] parameter(3)
  b = bf16[2,3] parameter(4) w = pred[2,3] parameter(5) v = f32[6] parameter(6) ROOT c = s32[2,3] constant({{1,2,0},{-1,5,3}}) })";

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {
    std::unique_ptr<Source> source = Source::FromString("generated", std::string(kFunctions));
    Diags diags;
    module_ = ParseModule(source, {}, diags);
    for (Computation* computation : module_->computations)
      if (computation != module_->entry) functions_.push_back(computation);
  }

  std::string Run() {
    for (int64_t n = 2 + random_.Below(12); n > 0; --n) AddOp();
    std::vector<Instruction*>& all = module_->entry->instructions;
    module_->entry->root = all.back();
    if (random_.OneIn(2)) AddTuple();
    module_->replica_count = random_.OneIn(3) ? 1 + random_.Below(4) : 1;
    module_->num_partitions = random_.OneIn(4) ? 1 + random_.Below(2) : 1;
    return PrintModule(*module_);
  }

 private:
  Arena& arena() { return module_->arena; }

  const Shape* RandomShape() {
    std::vector<int64_t> dims(static_cast<size_t>(random_.Below(4)));
    for (int64_t& size : dims) size = random_.OneIn(20) ? 0 : 1 + random_.Below(5);
    return module_->shapes.Array(random_.Of(kCommonTypes), dims);
  }

  // Tries ops until one has operands and attributes that its rules accept.
  void AddOp() {
    for (int tries = 0; tries < 400; ++tries) {
      Instruction hlo;
      hlo.opcode = static_cast<Opcode>(random_.Below(OpcodeCount()));
      if (hlo.opcode == Opcode::kParameter || hlo.opcode == Opcode::kConstant) continue;
      hlo.parent = module_->entry;
      const OpInfo& op = Info(hlo.opcode);
      if (op.infer == nullptr) continue;
      const int64_t count = op.arity >= 0 ? op.arity : 1 + random_.Below(4);
      std::vector<Instruction*> operands;
      for (int64_t i = 0; i < count; ++i) operands.push_back(random_.Of(module_->entry->instructions));
      // Equal operands are more likely to satisfy the op's rules.
      if (count > 1 && !random_.OneIn(3)) operands[1] = operands[0];
      hlo.operands = arena().Copy(operands);
      hlo.shape_ = random_.OneIn(2) || operands.empty() ? RandomShape() : operands[0]->shape_;
      for (const AttrDef& def : op.attrs)
        if (def.required || random_.OneIn(3)) AddAttr(hlo, def);
      if (TryAdd(hlo, op)) return;
    }
  }

  bool TryAdd(Instruction& hlo, const OpInfo& op) {
    if (!op.form(hlo, *module_).ok()) return false;
    Result<const Shape*> shape = op.infer(hlo, module_->shapes);
    if (!shape.ok() || *shape == nullptr) return false;
    if ((*shape)->ElementCount().value_or(INT64_MAX) > 4096) return false;
    hlo.shape_ = *shape;
    // Sometimes declares a float with another width.
    if (hlo.shape().IsArray() && IsFloat(hlo.shape().element_type()) && random_.OneIn(6)) {
      static constexpr ElementType kFloats[] = {ElementType::kF32, ElementType::kBf16, ElementType::kF64, ElementType::kF16};
      hlo.shape_ = module_->shapes.WithType(hlo.shape(), random_.Of(kFloats));
    }
    Instruction* added = module_->NewInstruction(*module_->entry);
    const uint32_t index = added->index;
    *added = hlo;
    added->index = index;
    added->parent = module_->entry;
    added->name = arena().CopyString("g" + std::to_string(index));
    return true;
  }

  void AddTuple() {
    std::vector<Instruction*> parts;
    std::vector<const Shape*> shapes;
    for (Instruction* hlo : module_->entry->instructions) {
      parts.push_back(hlo);
      shapes.push_back(hlo->shape_);
    }
    Instruction* tuple = module_->NewInstruction(*module_->entry);
    tuple->opcode = Opcode::kTuple;
    tuple->operands = arena().Copy(parts);
    tuple->shape_ = module_->shapes.Tuple(shapes);
    tuple->name = "all";
    module_->entry->root = tuple;
  }

  Ints RandomInts() {
    std::vector<int64_t> ints(static_cast<size_t>(random_.Below(4)));
    const bool ascending = random_.OneIn(2);
    for (size_t i = 0; i < ints.size(); ++i) ints[i] = ascending ? static_cast<int64_t>(i) : random_.Below(4);
    return arena().Copy(ints);
  }
  size_t RankOf(const Instruction& hlo) {
    const bool has = hlo.operand_count() > 0 && hlo.operand_shape(0).IsArray();
    return has && !random_.OneIn(10) ? hlo.operand_shape(0).dims().size() : static_cast<size_t>(random_.Below(3));
  }

  void AddAttr(Instruction& hlo, const AttrDef& def) {
    if (std::optional<AttrValue> value = RandomValue(hlo, def)) SetAttr(hlo, *module_, def.id, *value);
  }

  std::optional<AttrValue> RandomValue(const Instruction& hlo, const AttrDef& def) {
    switch (def.kind) {
      case AttrKind::kBool:
        return AttrValue(random_.OneIn(2));
      case AttrKind::kInt:
      case AttrKind::kInt32:
        return AttrValue(random_.OneIn(20) ? -1 : random_.Below(4));
      case AttrKind::kFloat:
        return AttrValue(0.5 * static_cast<double>(random_.Below(5)));
      case AttrKind::kEnum:
        if (def.enum_names.empty()) return std::nullopt;
        return AttrValue(EnumValue{static_cast<uint8_t>(random_.Below(std::ssize(def.enum_names)))});
      case AttrKind::kInts:
        return AttrValue(RandomInts());
      case AttrKind::kIntLists: {
        std::vector<Ints> lists{RandomInts()};
        return AttrValue(IntLists(arena().Copy(lists)));
      }
      case AttrKind::kComputation:
        return AttrValue(random_.Of(functions_));
      case AttrKind::kWindow:
        return AttrValue(RandomWindow(RankOf(hlo)));
      case AttrKind::kSliceRanges: {
        std::vector<SliceRange> ranges(RankOf(hlo));
        for (SliceRange& range : ranges) range = {random_.Below(2), 1 + random_.Below(3), 1 + random_.Below(2)};
        return AttrValue(std::span<const SliceRange>(arena().Copy(ranges)));
      }
      case AttrKind::kPadding: {
        std::vector<PaddingDim> dims(RankOf(hlo));
        for (PaddingDim& dim : dims) dim = {random_.Below(4) - 1, random_.Below(4) - 1, random_.Below(3)};
        return AttrValue(std::span<const PaddingDim>(arena().Copy(dims)));
      }
      case AttrKind::kReplicaGroups: {
        auto* groups = arena().New<ReplicaGroups>();
        if (random_.OneIn(2)) groups->rep = IotaTiles::Plain({1 + random_.Below(2), 1 + random_.Below(4)});
        return AttrValue(static_cast<const ReplicaGroups*>(groups));
      }
      default:
        return std::nullopt;
    }
  }

  const Window* RandomWindow(size_t rank) {
    std::vector<WindowDim> dims(rank);
    for (WindowDim& dim : dims) {
      dim = {1 + random_.Below(3), 1 + random_.Below(2), random_.Below(3) - (random_.OneIn(6) ? 1 : 0), random_.Below(3),
             1 + random_.Below(2), 1 + random_.Below(2), random_.OneIn(6)};
    }
    return arena().New<Window>(Window{arena().Copy(dims)});
  }

  static int64_t OpcodeCount() {
    int64_t count = 0;
#define OP(Name, text, arity) ++count;
#include "core/ops/ops.def"
#undef OP
    return count;
  }

  Random& random_;
  std::unique_ptr<Module> module_;
  std::vector<Computation*> functions_;
};

}  // namespace

std::string Generated(Random& random) { return Generator(random).Run(); }

}  // namespace shoal::internal::fuzz
