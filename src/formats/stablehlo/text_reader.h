// The text parser's class. The section headings name the .cc files. Private to formats/stablehlo.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/base/diags.h"
#include "core/base/strings.h"
#include "formats/stablehlo/mlir.h"
#include "formats/stablehlo/op_table.h"

namespace shoal::internal {

class MlirTextReader {
 public:
  MlirTextReader(std::string_view text, MlirModule& module, Diags& diags, bool loose)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()), module_(module), diags_(diags), loose_(loose) {}

  bool ReadModule();

 private:
  using Kind = MlirAttr::Kind;
  using Values = std::vector<MlirValue*>;
  using Attrs = std::vector<MlirNamedAttr>;

  // An op while it is read.
  struct Draft {
    std::string_view name;
    const MlirOpInfo* info = nullptr;
    Values operands;
    Attrs attrs;
    std::vector<const MlirType*> operand_types, result_types;
    std::vector<MlirRegion> regions;
    bool has_types = false;
    const char* start = nullptr;
    void Clear();
  };

  // ---- text_cursor.cc
  void SkipSpace() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n')) ++at_;
    if (at_ != end_ && (*at_ == '/' || *at_ == '\t' || *at_ == '\r')) SkipComments();
  }
  void SkipComments();
  // The next character after white space; 0 at the end.
  char Peek() {
    SkipSpace();
    return at_ == end_ ? '\0' : *at_;
  }
  bool At(std::string_view token) {
    SkipSpace();
    return static_cast<size_t>(end_ - at_) >= token.size() && std::string_view(at_, token.size()) == token;
  }
  bool Eat(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool Eat(std::string_view token) {
    if (!At(token)) return false;
    at_ += token.size();
    return true;
  }
  bool AtKeyword(std::string_view word);
  bool EatKeyword(std::string_view word);
  bool Expect(char c);
  bool Expect(std::string_view token);
  bool Error(std::string message) { return ErrorAt(at_, std::move(message)); }
  bool ErrorAt(const char* at, std::string message);
  // Reports the error at the end of loose text that could not be recovered from.
  bool ReportEnd();
  std::string_view ReadWord();      // letters, digits, _ $ . -; may be empty
  std::string_view ReadBareName();  // letters, digits, _ $ .
  bool ReadInt(int64_t* value);
  bool ReadString(std::string_view* value);
  bool ReadSymbol(std::string_view* value);     // @name, @"name", @a::@b
  bool ReadBalanced(std::string_view* text);    // text in brackets, with the brackets
  bool TooDeep() { return depth_ > kMaxDepth; }

  // ---- text_types.cc
  const MlirType* ReadType();
  const MlirType* ReadUncachedType();
  const MlirType* ReadTensor(bool is_buffer);
  const MlirType* ReadFunctionType();
  const MlirType* ReadOpaqueType(const char* start);
  bool ReadTypeList(std::vector<const MlirType*>& types, char close);
  const MlirType* ElementTypeOf(std::string_view word);
  MlirType* NewType(MlirType::Kind kind);

  // ---- text_attrs.cc
  const MlirAttr* ReadAttr();
  const MlirAttr* ReadHashAttr();
  const MlirAttr* ReadDialectAttr(const char* start, std::string_view name);
  const MlirAttr* ReadNumber();
  const MlirAttr* ReadArray();
  const MlirAttr* ReadTypedArray();
  const MlirAttr* ReadWordAttr();
  bool ReadDictionary(Attrs& attrs, char close);
  bool ReadOptionalAttrDict(Attrs& attrs);
  const MlirType* ReadOptionalColonType();
  MlirAttr* NewAttr(Kind kind) {
    MlirAttr* attr = module_.arena.New<MlirAttr>();
    attr->kind = kind;
    return attr;
  }
  const MlirAttr* Keyword(std::string_view text);
  const MlirAttr* IntAttr(int64_t value);
  const MlirAttr* IntsAttr(std::vector<int64_t>& values);
  bool ReadInts(std::vector<int64_t>& values);  // [1, 2]

  // ---- text_dense.cc
  const MlirAttr* ReadDense();
  const MlirAttr* ReadDenseResource();
  bool ReadHexElements(std::string_view hex, MlirAttr* attr);
  bool ReadResources();

  // ---- text_locations.cc
  const MlirLocation* ReadLocation();        // loc(…)
  const MlirLocation* ReadLocationBody();    // the text in the parentheses
  const MlirLocation* LocationAlias(std::string_view name);
  const MlirLocation* ReadOptionalLocation();

  // ---- text_ops.cc
  bool ReadAliasDefinition();
  MlirOp* ReadOp();
  bool ReadGenericOp(Draft& draft);
  bool ReadArgument(std::string_view* name, const MlirType** type, Attrs* attrs, const MlirLocation** location);
  bool ReadOperand(Values& operands);
  bool ReadOperandList(Values& operands);
  MlirOp* Finish(Draft& draft, std::span<const std::pair<std::string_view, int64_t>> names);
  bool Define(std::string_view name, MlirValue* values, size_t count);
  Draft& TakeDraft();

  // ---- text_regions.cc
  bool ReadRegion(MlirRegion& region, std::span<const std::pair<std::string_view, const MlirType*>> arguments);
  bool ReadBlocks(std::vector<MlirBlock>& blocks, std::vector<MlirOp*>& ops);
  // After an error at the end of loose text: a function returns the results of its last op, a module has one op less.
  enum class Owner : uint8_t { kOther, kFunction, kModule };
  bool RecoverEnd(Owner owner, std::vector<MlirOp*>& ops);
  bool ReadBlockArguments(MlirBlock& block);
  bool ReadRegionList(Draft& draft);
  bool ReadModuleOp(Draft& draft);
  bool ReadFunction(Draft& draft);

  // ---- text_op_syntax.cc
  bool ReadPrettyOp(Draft& draft);
  bool ReadToken(std::string_view token, Draft& draft);
  bool ReadTypes(char mode, Draft& draft);
  bool ReadConstant(Draft& draft);
  bool ReadWhile(Draft& draft);
  bool ReadReduce(Draft& draft);
  bool ReadScan(Draft& draft);
  bool ReadManualComputation(Draft& draft);
  bool ReadSliceRanges(Draft& draft);
  bool ReadFormat(Draft& draft);
  const MlirAttr* ReadPlainInt();

  // ---- text_contraction.cc
  bool ReadDotDimensions(Draft& draft);
  bool ReadPrecision(Draft& draft);
  bool ReadConvDimensions(Attrs& attrs);
  bool ReadConvWindow(Draft& draft);

  struct Named {
    MlirValue* values = nullptr;
    size_t count = 0;
  };
  struct Undo {
    std::string_view name;
    Named before;
  };
  void CloseScope(size_t size);

  const char* begin_;
  const char* at_;
  const char* end_;
  MlirModule& module_;
  Diags& diags_;
  const bool loose_;
  bool failed_ = false;
  bool truncated_ = false;            // such an error was recovered from
  std::optional<Diag> end_error_;     // the error at the end of loose text
  Owner owner_ = Owner::kOther;       // of the next region
  int depth_ = 0;
  absl::flat_hash_map<std::string_view, Named> names_;
  std::vector<Undo> undo_;
  absl::flat_hash_map<std::string_view, const MlirType*> types_;
  absl::flat_hash_map<std::string_view, const MlirType*> type_aliases_;
  absl::flat_hash_map<std::string_view, const MlirAttr*> attr_aliases_;
  absl::flat_hash_map<std::string_view, MlirLocation*> location_aliases_;
  absl::flat_hash_map<std::string_view, const MlirAttr*> keywords_;
  absl::flat_hash_map<int64_t, const MlirAttr*> small_ints_;
  std::vector<std::pair<std::string_view, MlirAttr*>> resources_;
  std::vector<std::unique_ptr<Draft>> drafts_;
  size_t draft_depth_ = 0;
  static constexpr int kMaxDepth = 200;
};

}  // namespace shoal::internal
