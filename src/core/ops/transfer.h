// Work that runs asynchronously: async wrappers, copies between memories, send and recv, infeed and outfeed.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

struct Transfer : OpBase {
  static constexpr OpClass kClass = OpClass::kTransfer;
};

inline constexpr Attr<std::string_view> kAsyncExecutionThread{"async_execution_thread", "main"};
bool IsOtherThread(const Instruction& hlo);

// async-start: starts calls(operands…); its shape is ((operands), result, context…). Written "dot-start(…)" if the
// computation is one op.
template <>
struct Op<Opcode::kAsyncStart> : Transfer {
  static constexpr CallKind kCallKind = CallKind::kOnce;
  static constexpr std::array kAttrs{ShownIf(IfGiven(kAsyncExecutionThread), IsOtherThread),
                                     Optional(kOutputToOperandAliasing), Required(kCalls)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};
template <>
struct Op<Opcode::kAsyncUpdate> : Transfer {
  static constexpr std::array kAttrs{Unprinted(kAsyncExecutionThread), Optional(kOutputToOperandAliasing),
                                     Unprinted(kCalls)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kAsyncDone> : Transfer {
  static constexpr std::array kAttrs{Unprinted(kAsyncExecutionThread), Unprinted(kCalls)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// The wrapped op of an async-update or async-done whose async-start is in a caller; a parameter carries the chain.
inline constexpr Attr<std::string_view> kAsyncWrappedOpcode{"(wrapped opcode)"};

// True for a custom call that forwards its operand with an annotation. Async chains may pass through it.
bool IsAnnotation(const Instruction& hlo);

// The async-start of the chain that contains this async-update or async-done; null if there is none.
const Instruction* AsyncStartOf(const Instruction& hlo);
// The op that an async chain wraps, as in "dot-start"; null if the wrapped computation has more than one op.
Instruction* AsyncWrapped(const Instruction& hlo);

// copy-start: starts a copy to another memory space; its shape is (destination, source, context).
template <>
struct Op<Opcode::kCopyStart> : Transfer {
  static constexpr Attr<int64_t> kCrossProgramPrefetchIndex{"cross_program_prefetch_index"};
  static constexpr std::array kAttrs{AsInt32(IfGiven(kCrossProgramPrefetchIndex))};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kCopyDone> : Transfer {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

inline constexpr Attr<bool> kIsHostTransfer{"is_host_transfer"};
struct SendRecvAttrs : Transfer {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Optional(kIsHostTransfer)};
};

// send: sends operand0 to the other end of the channel, after the token operand1.
template <>
struct Op<Opcode::kSend> : SendRecvAttrs {
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kSendDone> : SendRecvAttrs {
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
// recv: (data, context, token) from the other end of the channel.
template <>
struct Op<Opcode::kRecv> : SendRecvAttrs {
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kRecvDone> : SendRecvAttrs {
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// infeed: (data, token) from the host.
template <>
struct Op<Opcode::kInfeed> : Transfer {
  static constexpr Attr<std::string_view> kInfeedConfig{"infeed_config"};
  static constexpr std::array kAttrs{Optional(kInfeedConfig)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// outfeed: sends operand0 to the host.
template <>
struct Op<Opcode::kOutfeed> : Transfer {
  static constexpr Attr<const Shape*> kOutfeedShape{"outfeed_shape"};
  static constexpr Attr<std::string_view> kOutfeedConfig{"outfeed_config"};
  static constexpr std::array kAttrs{Always(kOutfeedShape), Optional(kOutfeedConfig)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

}  // namespace shoal::internal
