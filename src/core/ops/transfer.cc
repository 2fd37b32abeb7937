#include "core/ops/transfer.h"

namespace shoal::internal {
namespace {

const Shape* WithToken(const Shape* data, ShapePool& shapes) {
  const Shape* elements[] = {data, shapes.Token()};
  return shapes.Tuple(elements);
}

// The shape of send and recv before their done: (data, context, token).
const Shape* InFlight(const Shape* data, ShapePool& shapes) {
  const Shape* elements[] = {data, shapes.Scalar(ElementType::kU32), shapes.Token()};
  return shapes.Tuple(elements);
}

Status OperandIsToken(const Instruction& hlo, size_t i, std::string_view rule) {
  if (i >= hlo.operand_count()) return OperandCount(hlo, i + 1);
  if (hlo.operand_shape(i).IsToken()) return {};
  return Broken(hlo, rule, StrCat("operand ", i, " must be a token, got ", Str(hlo.operand_shape(i))));
}

Status ResultBeginsWithData(const Instruction& hlo) {
  if (hlo.shape().IsTuple() && !hlo.shape().elements().empty()) return {};
  return Broken(hlo, "C1", StrCat("the result must be a tuple that begins with the data, got ", Str(hlo.shape())));
}

// A done must have the channel_id of its operand, if the op of the operand has that attribute.
Status SameChannel(const Instruction& hlo) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Instruction& operand = *hlo.operands[0];
  if (FindAttr(Info(operand.opcode).attrs, kChannelId.id) == nullptr) return {};
  if (hlo.has(kChannelId) == operand.has(kChannelId) && hlo[kChannelId] == operand[kChannelId]) return {};
  auto channel = [](const Instruction& each) {
    return each.has(kChannelId) ? StrCat(each[kChannelId]) : std::string("none");
  };
  return Broken(hlo, "C1",
                StrCat("channel_id must be that of the operand, ", channel(operand), ", got ", channel(hlo)));
}

Status OperandBeginsWithData(const Instruction& hlo) {
  const Shape& operand = hlo.operand_shape(0);
  if (operand.IsTuple() && !operand.elements().empty()) return {};
  return Broken(hlo, "C2", StrCat("operand 0 must be a tuple that begins with the data, got ", Str(operand)));
}

}  // namespace

ShapeResult Op<Opcode::kCopyStart>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Shape* operand = hlo.operands[0]->shape_;
  const Shape* elements[] = {operand, operand, shapes.Scalar(ElementType::kU32)};
  return shapes.Tuple(elements);
}

ShapeResult Op<Opcode::kCopyDone>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Shape& operand = hlo.operand_shape(0);
  if (!operand.IsTuple() || operand.elements().size() < 2 || !Compatible(operand.element(0), operand.element(1)))
    return Broken(hlo, "C1",
                  StrCat("operand 0 must be (destination, source, …) with both of the same shape, got ", Str(operand)));
  return &operand.element(0);
}

Status Op<Opcode::kSend>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(OperandCount(hlo, 2));
  hlo.shape_ = InFlight(hlo.operands[0]->shape_, module.shapes);
  return {};
}

ShapeResult Op<Opcode::kSend>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 2));
  return InFlight(hlo.operands[0]->shape_, shapes);
}

Status Op<Opcode::kSendDone>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(SameChannel(hlo));
  hlo.shape_ = module.shapes.Token();
  return {};
}

ShapeResult Op<Opcode::kSendDone>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(SameChannel(hlo));
  return shapes.Token();
}

Status Op<Opcode::kRecv>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(ResultBeginsWithData(hlo));
  hlo.shape_ = InFlight(hlo.shape().elements()[0], module.shapes);
  return {};
}

ShapeResult Op<Opcode::kRecv>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(ResultBeginsWithData(hlo));
  return InFlight(hlo.shape().elements()[0], shapes);
}

Status Op<Opcode::kRecvDone>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(SameChannel(hlo));
  SHOAL_TRY(OperandBeginsWithData(hlo));
  hlo.shape_ = WithToken(hlo.operand_shape(0).elements()[0], module.shapes);
  return {};
}

ShapeResult Op<Opcode::kRecvDone>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(SameChannel(hlo));
  SHOAL_TRY(OperandBeginsWithData(hlo));
  return WithToken(hlo.operand_shape(0).elements()[0], shapes);
}

Status Op<Opcode::kInfeed>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(ResultBeginsWithData(hlo));
  hlo.shape_ = WithToken(hlo.shape().elements()[0], module.shapes);
  return {};
}

ShapeResult Op<Opcode::kInfeed>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(ResultBeginsWithData(hlo));
  SHOAL_TRY(OperandIsToken(hlo, 0, "C2"));
  return WithToken(hlo.shape().elements()[0], shapes);
}

Status Op<Opcode::kOutfeed>::Normalize(Instruction& hlo, Module& module) {
  SHOAL_TRY(OperandCount(hlo, 2));
  if (!hlo.has(kOutfeedShape)) SetAttr(hlo, module, kOutfeedShape, hlo.operands[0]->shape_);
  hlo.shape_ = module.shapes.Token();
  return {};
}

ShapeResult Op<Opcode::kOutfeed>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 2));
  SHOAL_TRY(OperandIsToken(hlo, 1, "C1"));
  const Shape* outfeed = hlo[kOutfeedShape];
  const Shape& operand = hlo.operand_shape(0);
  if (outfeed != nullptr && !Compatible(*outfeed, operand))
    return Broken(hlo, "C2",
                  StrCat("outfeed_shape must be the operand's shape ", Str(operand), ", got ", Str(*outfeed)));
  return shapes.Token();
}

}  // namespace shoal::internal
