// The bytecode reader's class. The section headings name the .cc files. Private to formats/stablehlo.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/diags.h"
#include "core/base/strings.h"
#include "formats/stablehlo/bytecode_stream.h"
#include "formats/stablehlo/mlir.h"
#include "formats/stablehlo/op_table.h"

namespace shoal::internal {

struct BytecodeOpName {
  std::string_view dialect, name;  // name without the dialect
  bool registered = true;
  std::string_view full;  // filled at the first use, as are the others
  std::string_view canonical;
  std::string_view attributes;
  const MlirOpInfo* info = nullptr;
};

class MlirBytecodeReader {
 public:
  MlirBytecodeReader(std::string_view bytes, MlirModule& module, Diags& diags)
      : bytes_(bytes), module_(module), diags_(diags) {}

  bool Read();

 private:
  using Kind = MlirAttr::Kind;

  // ---- bytecode_sections.cc
  bool ReadStrings(std::string_view data);
  bool ReadDialects(std::string_view data);
  bool ReadOffsets(std::string_view offsets, std::string_view data);
  bool ReadProperties(std::string_view data);
  bool ReadResources(std::string_view offsets, std::string_view data);
  bool ReadSection(BytecodeStream& stream, uint8_t* id, std::string_view* data);
  bool Error(const char* at, std::string message);
  bool Error(std::string message) { return Error(bytes_.data(), std::move(message)); }
  std::string_view String(uint64_t index);

  // ---- bytecode_ir.cc
  struct Scope {
    std::vector<MlirValue*> values;
    std::vector<size_t> next;  // the next value to define in each open region
  };
  bool ReadIr(std::string_view data);
  bool ReadBlock(BytecodeStream& stream, MlirBlock& block);
  bool ReadBlockArguments(BytecodeStream& stream, MlirBlock& block);
  MlirOp* ReadOp(BytecodeStream& stream);
  bool ReadAttributesOf(BytecodeStream& stream, uint8_t mask, MlirOp& op, const struct BytecodeOpName& name);
  // The attributes of an op; many ops share one entry of the table.
  const std::span<const MlirNamedAttr>* ReadOpProperties(uint64_t index, const struct BytecodeOpName& name);
  bool ReadRegions(BytecodeStream& stream, uint64_t count, MlirOp& op);
  bool SkipUseListOrders(BytecodeStream& stream, size_t count);
  bool Define(MlirValue* value);

  // ---- bytecode_attrs.cc
  const MlirAttr* Attr(uint64_t index);
  const MlirType* Type(uint64_t index);
  const MlirAttr* ReadAttr(BytecodeStream& stream) { return Attr(stream.Varint()); }
  const MlirType* ReadType(BytecodeStream& stream) { return Type(stream.Varint()); }
  MlirAttr* NewAttr(Kind kind) {
    MlirAttr* attr = module_.arena.New<MlirAttr>();
    attr->kind = kind;
    return attr;
  }
  MlirType* NewType(MlirType::Kind kind) {
    MlirType* type = module_.arena.New<MlirType>();
    type->kind = kind;
    return type;
  }
  const MlirType* Element(ElementType type);
  const MlirAttr* ReadList(BytecodeStream& stream);
  const MlirAttr* ReadFields(BytecodeStream& stream, std::string_view name);
  const MlirAttr* ReadInteger(BytecodeStream& stream);
  const MlirAttr* ReadFloat(BytecodeStream& stream);
  const MlirAttr* ReadKeyword(BytecodeStream& stream, std::span<const std::string_view> names);
  const MlirAttr* MakeDense(const MlirType* type, std::string_view blob);
  const MlirType* MakeTensor(BytecodeStream& stream, const MlirAttr* encoding);
  const MlirType* ReadFunctionType(BytecodeStream& stream);
  Ints ReadSignedInts(BytecodeStream& stream);
  MlirAttr* Dictionary(std::string_view name, std::vector<MlirNamedAttr> fields);
  MlirAttr* Text(std::string text);
  MlirAttr* Number(int64_t value);
  double FloatFromBits(ElementType type, BytecodeStream& stream);

  // ---- bytecode_builtin.cc, bytecode_vhlo.cc, bytecode_stablehlo.cc, bytecode_sdy.cc: the encodings of the dialects
  const MlirAttr* ReadBuiltinAttr(BytecodeStream& stream);
  const MlirType* ReadBuiltinType(BytecodeStream& stream);
  const MlirAttr* ReadVhloAttr(BytecodeStream& stream);
  const MlirType* ReadVhloType(BytecodeStream& stream);
  const MlirAttr* ReadResultAccuracy(BytecodeStream& stream);
  const MlirAttr* ReadStablehloAttr(BytecodeStream& stream);
  const MlirType* ReadStablehloType(BytecodeStream& stream);
  const MlirAttr* ReadSdyAttr(BytecodeStream& stream);
  const MlirAttr* ReadShardingRule(BytecodeStream& stream);
  static std::string FactorName(int64_t factor);

  // ---- bytecode_locations.cc
  const MlirLocation* Location(uint64_t index);

  struct Entry {
    std::string_view dialect, data;
    enum class State : uint8_t { kUnread, kReading, kRead };
    bool custom = false;  // encoded by the dialect, else text
    State state = State::kUnread, location_state = State::kUnread;
    const MlirAttr* attr = nullptr;
    const MlirType* type = nullptr;
    MlirLocation* location = nullptr;
  };
  std::string_view bytes_;
  MlirModule& module_;
  Diags& diags_;
  bool failed_ = false;
  int depth_ = 0;
  uint64_t version_ = 0;
  std::vector<std::string_view> strings_, dialects_;
  std::vector<BytecodeOpName> op_names_;
  std::vector<Entry> attrs_, types_;
  struct Properties {
    std::string_view data;
    const BytecodeOpName* owner = nullptr;  // the op for which `attrs` were read
    std::span<const MlirNamedAttr> attrs;
  };
  std::vector<Properties> properties_;
  absl::flat_hash_map<std::string_view, std::string_view> resources_;
  std::vector<std::string_view> resource_keys_;
  std::vector<Scope> scopes_;
  const MlirType* elements_[256] = {};
  static constexpr int kMaxDepth = 200;
};

}  // namespace shoal::internal
