// A program in MLIR as a tree of ops, as the text parser and the bytecode reader produce it. Ops of every dialect have
// the same form; the table of ops (op_table.h) tells them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/result.h"
#include "core/ir/shape.h"

namespace shoal::internal {

class Instruction;
struct MlirOpInfo;

struct MlirType {
  enum class Kind : uint8_t { kElement, kTensor, kUnranked, kTuple, kToken, kFunction, kBuffer, kFuture, kOpaque };
  Kind kind = Kind::kOpaque;
  ElementType element = ElementType::kInvalid;  // kElement, kTensor, kBuffer
  Ints dims;                                    // kUnboundedSize for "?"
  Ints bounds;                                  // #stablehlo.bounds; kUnboundedSize for "?"; empty without bounds
  std::span<const MlirType* const> elements;    // tuple: elements; function: inputs
  std::span<const MlirType* const> results;     // function
  std::string_view text;                        // kOpaque: the type as written
  mutable const Shape* shape = nullptr;         // cache of the importer
};

struct MlirAttr;
struct MlirNamedAttr {
  std::string_view name;
  const MlirAttr* value = nullptr;
};

struct MlirAttr {
  enum class Kind : uint8_t {
    kUnit,
    kBool,
    kInt,
    kFloat,
    kString,
    kSymbol,      // @name
    kKeyword,     // a value of an enum: #stablehlo<comparison_direction GT>
    kInts,        // array<i64: 1, 2>, and lists of integers
    kArray,       // [a, b]
    kDictionary,  // {a = 1}, and attributes with named fields: #stablehlo.dot<…>
    kDense,       // elements of a tensor
    kType,
    kOpaque,  // an attribute of an unknown kind, as written: #sdy.sharding<…>
  };
  Kind kind = Kind::kUnit;
  bool splat = false;               // kDense: `data` is one element
  bool elided = false;              // kDense: the values are missing from the file
  int64_t number = 0;               // kBool, kInt
  double real = 0;                  // kFloat
  const MlirType* type = nullptr;   // of kInt, kFloat, kDense, kType; may be null
  std::string_view text;            // kString (decoded), kSymbol, kKeyword, kOpaque; dialect name of kDictionary
  Ints ints;                        // kInts
  std::span<const MlirAttr* const> elements;  // kArray
  std::span<const MlirNamedAttr> fields;      // kDictionary
  std::span<const std::byte> data;            // kDense, in the format of Literal::data
  mutable Ints folded_ints, imported_ints;    // caches of the simplifier and of the importer: the value as integers
};

struct MlirLocation {
  enum class Kind : uint8_t { kUnknown, kFile, kName, kCallSite, kFused };
  Kind kind = Kind::kUnknown;
  std::string_view text;  // file name, or name
  int32_t line = 0, column = 0, end_line = 0, end_column = 0;
  std::span<const MlirLocation* const> children;  // name: child; call site: callee, caller; fused: locations
  mutable int64_t import_id = -1;                 // cache of the importer
};

struct MlirOp;
struct MlirValue {
  const MlirType* type = nullptr;
  MlirOp* owner = nullptr;  // null: argument of a block
  uint32_t index = 0;
  mutable int32_t uses = 0;                // counted by the simplifier
  MlirValue* replacement = nullptr;        // set by the simplifier
  const MlirLocation* location = nullptr;  // arguments only
  mutable Instruction* lowered = nullptr;  // used by the importer
};

struct MlirBlock {
  std::span<MlirValue> arguments;
  std::span<MlirOp*> ops;
};
struct MlirRegion {
  std::span<MlirBlock> blocks;
};

struct MlirOp {
  std::string_view name;             // stablehlo.add; VHLO ops have the name of the StableHLO op
  const MlirOpInfo* info = nullptr;  // null: an op that is not in the table
  std::span<MlirValue*> operands;
  std::span<MlirValue> results;
  std::span<const MlirNamedAttr> attrs;
  std::span<MlirRegion> regions;
  const MlirLocation* location = nullptr;
  TextSpan at;
  int round = 0;  // the last round in which the simplifier changed the op

  // The attribute with this name, also in attributes with named fields; null if there is none.
  const MlirAttr* Find(std::string_view attr) const;
};

struct MlirModule {
  Arena arena;
  MlirOp* op = nullptr;  // builtin.module
  bool is_bytecode = false;
};

}  // namespace shoal::internal
