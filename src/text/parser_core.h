// The parser's state and its parts, one file each: module_parser.cc (header, computations), instruction_parser.cc,
// operand_parser.cc, async_parser.cc, shape_parser.cc, literal_parser.cc, attr_parser.cc (simple kinds),
// compound_attr_parser.cc, sharding_parser.cc, mesh_parser.cc. Private to text/.
//
// Functions that read return false after an error was reported. Two kinds of trouble: Error (the text is wrong) and
// Liberty (XLA would refuse it, but the meaning is clear: an error if strict, else a warning and reading goes on).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/strings.h"
#include "ops/op.h"
#include "text/lexer.h"
#include "text/name_table.h"
#include "text/parser.h"

namespace shoal {

// XLA's NameUniquer: gives each name, in the order asked, a form that no earlier one had.
class NameUniquer {
 public:
  std::string Unique(std::string_view name);
  // As XLA cleans names: letters, digits, '_', '.', '-'; no type name; no leading "__" but "__xla_".
  static std::string Sanitized(std::string_view name);

 private:
  struct Ids {
    int64_t next = 0;
    absl::flat_hash_set<int64_t> used;
  };
  absl::flat_hash_map<std::string, Ids> roots_;
};

class Parser {
 public:
  // `cut_short`: the text may end inside a computation, which then is what is there.
  Parser(Module& module, std::string_view text, const ParseOptions& options, bool cut_short, Diags& diags);
  bool Run();
  // Where the first instruction or computation begins that could not be read, nor anything behind it.
  std::optional<uint32_t> BrokenFrom() const;

 private:
  // ---- what went wrong
  bool Error(TextSpan at, std::string message, Site site = Site::Here());
  bool ErrorHere(std::string message, Site site = Site::Here()) {
    return Error(lexer_.token().span(), std::move(message), site);
  }
  // True if the liberty is allowed.
  bool Liberty(TextSpan at, std::string_view rule, std::string message, Site site = Site::Here());

  // ---- tokens
  const Token& token() const { return lexer_.token(); }
  Tok kind() const { return lexer_.kind(); }
  bool Eat(Tok wanted) {
    if (kind() != wanted) return false;
    lexer_.Next();
    return true;
  }
  bool Expect(Tok wanted, const char* what) { return Eat(wanted) || Expected(what); }
  bool Expected(const char* what);  // reports that it is not there
  bool ReadName(std::string_view* name) {
    *name = token().text;
    return Eat(Tok::kName) || Eat(Tok::kIdent) || Expected("a name");
  }
  bool ReadAttrName(std::string_view* name) {
    *name = token().text;
    return Expect(Tok::kAttrName, "an attribute");
  }
  bool ReadInt(int64_t* value);
  bool ReadInt32(int32_t* value);
  bool ReadDouble(double* value);
  bool ReadBool(bool* value);
  bool ReadString(std::string_view* text);
  bool ReadStringOrJson(std::string_view* text);
  // `{` item `,` item … `}` with other brackets if asked.
  template <class ReadItem>
  bool ReadList(Tok open, Tok close, Tok delimiter, ReadItem read_item);
  bool ReadInts(Ints* ints, Tok open = Tok::kLbrace, Tok close = Tok::kRbrace, Tok delimiter = Tok::kComma);
  bool ReadShapeIndex(Ints* index);

  // ---- module_parser.cc
  bool ReadModuleText();
  bool ReadHeader();
  bool ReadHeaderAttr(std::string_view name, TextSpan at);
  bool ReadAliasing();
  bool ReadBufferDonors();
  bool ReadEntryLayout();
  bool ReadBools(std::vector<bool>* bools);
  bool ReadOriginRecoveryTable();
  bool ReadDebugAttributes();
  bool ReadDebugAttributesOf(DebugAttributes* attributes);
  bool ReadStackFrameTables();
  bool ReadComputation();
  bool ReadComputationAt(uint32_t start);
  bool FitsEntryLayout(const Computation& computation) const;
  bool ReadSignature(const Shape** result, TextSpan* result_at);
  bool ReadInstructionList(Computation& computation);
  bool ReadSingleInstruction();
  const Shape* WithDefaultLayouts(const Shape& shape);
  bool Finish();
  bool CheckAliases();
  bool CheckAsyncComputations();
  bool FinishComputation(Computation& computation, Instruction* root);
  bool NumberParameters(Computation& computation);

  // ---- computations that are called
  // The computation of that name; in loose text it may come later, or not at all.
  Computation* FindComputation(std::string_view name, TextSpan at);
  Computation* ReadAhead(std::string_view name, TextSpan at);
  void IndexComputations();
  bool ReadCalledComputation(Computation** computation);

  // ---- instruction_parser.cc
  struct Opening {  // name = shape opcode
    std::string_view name;
    TextSpan name_at;
    const Shape* shape = nullptr;
    Opcode opcode = Opcode::kUnknown;
    std::optional<Opcode> wrapped;  // of a sugared async op: dot-start
    std::string_view opcode_text;
    TextSpan opcode_at;
  };
  bool ReadInstruction(Computation& computation, Instruction** root);
  // After the "=": the instruction is added to `computation` and returned, null after an error.
  Instruction* ReadInstructionBody(Computation& computation, std::string_view name, TextSpan name_at, bool nested);
  bool ReadOpcode(Opening* opening);
  bool ReadOperands(Computation& computation, std::vector<Instruction*>& operands);
  Instruction* ReadOperand(Computation& computation, bool* dropped);
  Instruction* ResolveOperand(Computation& computation, std::string_view name, TextSpan at, const Shape* shape);
  Instruction* MissingOperand(Computation& computation, std::string_view name, TextSpan at, const Shape* shape);
  Instruction* ReadTupleElements(Computation& computation, Instruction* hlo, std::string_view name, TextSpan at);
  bool ReadParenthesised(Instruction& hlo, Computation& computation, std::vector<Instruction*>& operands,
                         std::vector<NamedAttr>& attrs);
  bool ReadValueBehind(Instruction& hlo, std::vector<NamedAttr>& attrs);
  bool ReadAttributes(Instruction& hlo, std::span<const AttrDef> own, std::vector<NamedAttr>& attrs, bool allowed);
  bool ReadUnknownAttr(std::string_view name, TextSpan at, std::vector<NamedAttr>& attrs);
  bool CheckRequired(const Instruction& hlo, std::span<const AttrDef> own);
  bool FinishInstruction(Instruction& hlo, const Opening& opening);
  bool InferShape(Instruction& hlo);
  void OrderComputations(Instruction& hlo);
  bool NameInstruction(Instruction& hlo, const Opening& opening);
  Instruction* MakeParameter(Computation& computation, int64_t number, const Shape* shape, std::string_view name,
                             TextSpan at);
  std::string_view AnonymousName(const Instruction& hlo);

  // ---- forward_references.cc: loose text may define operands and control predecessors later in the computation
  struct Named {
    std::string_view name;
    TextSpan at;
  };
  bool IsMissing(std::string_view name, TextSpan at);
  bool IsInSignature(std::string_view name);
  Instruction* MakeFromSignature(Computation& computation, const Named& named);
  void Defer(uint32_t start, std::string_view name);
  void SkipInstruction(uint32_t start);
  bool ReadDeferred(Computation& computation, Instruction** root);
  bool ComplainAboutDeferred();
  bool ResolveControlPredecessors(Computation& computation);

  // ---- async_parser.cc
  Instruction* ReadAsync(Computation& computation, const Opening& opening, bool nested);
  void RecogniseWrappedCollective(Opening* opening);
  Computation* ReadWrappedOp(Instruction& start, const Opening& opening, std::vector<NamedAttr>& attrs, bool nested);
  bool CheckContinuation(Instruction& hlo, const Opening& opening);
  void SetExecutionThread(Computation& computation, std::string_view thread);
  void ShareWithWrapped(Instruction& hlo, const Opening& opening);
  void FitWrappedToCalled(Computation& wrapped);
  void FitWrapped(Computation& wrapped, const Shape& result, std::span<const Shape* const> operands);

  // ---- shape_parser.cc
  bool AtShape();
  const Shape* ReadShape();
  const Shape* ReadArrayShape();
  std::string_view ShapeText() const;
  bool ReadLayoutExtras(Layout* layout, std::vector<Tile>& tiles, std::vector<SplitConfig>& splits);
  bool ReadTiles(std::vector<Tile>& tiles);
  bool ReadSplitConfigs(std::vector<SplitConfig>& splits);
  bool ReadParenInt(int64_t* value);
  bool ReadParenType(ElementType* type);

  // ---- literal_parser.cc
  const Literal* ReadLiteral(const Shape& shape);
  const Literal* ReadLiteralWithShape();
  const Literal* ReadTupleLiteral(const Shape& shape);
  const Literal* ReadArrayLiteral(const Shape& shape);
  bool ReadElement(const Shape& shape, std::byte* to);
  bool ReadComplexElement(const Shape& shape, std::byte* to);
  bool StoreFloat(ElementType type, double value, TextSpan at, std::byte* to);
  bool StoreInt(ElementType type, int64_t value, TextSpan at, std::byte* to);

  // ---- attr_parser.cc, compound_attr_parser.cc
  bool ReadAttrValue(const AttrDef& def, AttrValue* value);
  bool ReadEnum(const AttrDef& def, AttrValue* value);
  bool ReadEnumList(const AttrDef& def, AttrValue* value);
  bool ReadIntLists(AttrValue* value);
  bool ReadComputations(AttrValue* value);
  bool ReadInstructionNames(AttrValue* value);
  bool ReadFrontendAttributes(std::span<const FrontendAttribute>* attributes);
  bool ReadStatistics(AttrValue* value);
  bool ReadBoolSpan(AttrValue* value);
  bool ReadMetadata(Metadata* metadata);
  bool ReadMetadataField(uint32_t field, std::string_view name, TextSpan at, Metadata* metadata);
  bool ReadWindow(AttrValue* value);
  bool ReadDxD(std::vector<int64_t>* numbers);
  bool ReadPadNumbers(std::vector<std::vector<int64_t>>* dims);
  bool ReadDimLabels(AttrValue* value);
  bool ReadSliceRanges(AttrValue* value);
  bool ReadPadding(AttrValue* value);
  bool ReadDomain(AttrValue* value);
  bool ReadShapes(AttrValue* value);
  bool ReadResultAccuracy(AttrValue* value);
  bool ReadOutputOperandAliasing(AttrValue* value);
  bool ReadOriginalArray(OriginalArray* array);
  bool ReadOriginalValue(AttrValue* value);
  bool ReadSparsity(AttrValue* value);
  bool ReadTensorSparsity(TensorSparsity* tensor);

  // ---- sharding_parser.cc
  bool ReadSharding(Sharding* sharding);
  bool ReadSingleSharding(Sharding* sharding);  // after its '{'
  bool ReadTileAssignment(TileAssignment* tiles, bool iota_only);
  bool ReadIota(std::vector<int64_t> dims, IotaTiles* iota);
  bool ReadReplicaGroups(AttrValue* value);
  bool ReadShardingMetadata(std::vector<Metadata>* metadata);
  bool ReadLastTileDims(std::vector<Sharding::Kind>* kinds);
  bool FinishTiledSharding(Sharding* sharding, TextSpan at);
  void TakeReductionOp(Sharding* sharding);

  // ---- mesh_parser.cc
  bool ReadNamedSharding(Sharding* sharding);
  bool ReadReductionOp(Sharding* sharding);
  bool ReadMesh(Mesh* mesh);
  bool ReadMeshDevices(Mesh* mesh);
  bool AtMeshDeviceIds();
  bool ReadAxisRef(const Mesh& mesh, AxisRef* axis);
  bool ReadAxisRefs(const Mesh& mesh, std::vector<AxisRef>* axes);
  bool ReadDimensionSharding(const Mesh& mesh, Sharding::Dimension* dimension);

  // Lists under construction, one pair per level of nesting, so that they are allocated once.
  struct Scratch {
    std::vector<NamedAttr> attrs;
    std::vector<Instruction*> operands;
  };
  Scratch& TakeScratch() {
    if (scratch_depth_ == scratch_.size()) scratch_.push_back(std::make_unique<Scratch>());
    Scratch& scratch = *scratch_[scratch_depth_++];
    scratch.attrs.clear();
    scratch.operands.clear();
    return scratch;
  }
  void GiveBackScratch() { --scratch_depth_; }

  // ---- getting past an error
  void SkipToNextInstruction(uint32_t failed);
  void SkipComputation();

  // ---- nesting
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Depth() { --parser_.depth_; }
    bool TooDeep() { return parser_.depth_ > kDeepest && !parser_.ErrorHere("nesting is deeper than 1024 levels"); }

   private:
    Parser& parser_;
  };
  static constexpr int kDeepest = 1024;

  // A computation's names, and what its signature calls its parameters.
  struct Scope {
    NameTable names;
    std::map<std::string, Instruction*> elements;  // by their paths: name#1
    std::vector<Instruction*> parameters;
    std::vector<std::pair<std::string_view, const Shape*>> signature;
    absl::flat_hash_set<std::string_view> broken;  // instructions that could not be read: do not complain again
    std::vector<Named> missing;                    // of the instruction that is being read: names not defined yet
    struct Deferred {
      std::string_view name;
      uint32_t start = 0;
      std::vector<Named> missing;
    };
    std::vector<Deferred> deferred;  // instructions to be read when all of the computation is known
    struct LateControl {
      Instruction* user = nullptr;
      Named before;
    };
    std::vector<LateControl> late_control;
  };
  Scope& scope() { return *scopes_.back(); }
  void OpenScope();
  void CloseScope();

  Module& module_;
  const ParseOptions options_;
  const bool cut_short_;
  Diags& diags_;
  Lexer lexer_;
  int depth_ = 0;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<std::unique_ptr<Scope>> spare_scopes_;
  struct TextHash {
    size_t operator()(std::string_view text) const { return HashName(text); }
  };
  absl::flat_hash_map<std::string_view, Computation*, TextHash> computations_;
  absl::flat_hash_map<std::string_view, uint32_t> computation_offsets_;  // filled by IndexComputations
  bool indexed_ = false;
  absl::flat_hash_set<uint32_t> read_offsets_;  // computations read ahead of their place
  std::vector<std::string_view> reading_;       // computations that are being read, each inside the one before
  bool saw_async_ = false;
  // Array shapes by their text: most shapes of a module are written many times.
  absl::flat_hash_map<std::string_view, const Shape*, TextHash> shapes_by_text_;
  std::optional<NameUniquer> uniquer_;  // made when the first nested instruction needs a name
  bool single_instruction_ = false;
  int64_t missing_parameters_ = 0;
  std::vector<int64_t> int_scratch_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  size_t scratch_depth_ = 0;
  // Where instructions and computations begin that could not be read, and the last one that could.
  std::vector<uint32_t> broken_;
  uint32_t last_read_ = 0;
  uint32_t last_error_ = TextSpan::kNowhere;  // where to look for the next instruction
  TextSpan aliases_at_;
  std::vector<Instruction*> spare_list_;  // room for the instructions of the next computation
  static constexpr int kMostErrors = 100;
  static constexpr int64_t kMostMissingParameters = 1 << 16;
};

template <class ReadItem>
bool Parser::ReadList(Tok open, Tok close, Tok delimiter, ReadItem read_item) {
  if (!Expect(open, "a list")) return false;
  if (kind() != close) {
    do {
      if (!read_item()) return false;
    } while (Eat(delimiter));
  }
  return Expect(close, "the end of the list");
}

}  // namespace shoal
