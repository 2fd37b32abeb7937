// The text printer's class. The section headings name the .cc files. Private to formats/stablehlo.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "formats/stablehlo/op_table.h"
#include "formats/stablehlo/write.h"

namespace shoal::internal {

class MlirTextPrinter {
 public:
  explicit MlirTextPrinter(const StablehloOptions& options) : options_(options) {}
  std::string Print(const MlirModule& module);

 private:
  // ---- print_text.cc
  void PrintModule(const MlirOp& op);
  void PrintFunction(const MlirOp& op);
  void PrintOp(const MlirOp& op);
  void PrintRegion(const MlirRegion& region, bool with_arguments);
  void PrintGeneric(const MlirOp& op);
  void PrintOperand(const MlirValue& value);
  void PrintOperands(std::span<MlirValue* const> values);
  void PrintArgument(const MlirValue& value);
  void PrintDictionary(std::span<const MlirNamedAttr> attrs);
  void PrintAttr(const MlirAttr& attr);
  void NameResults(const MlirOp& op);
  void NameValue(const MlirValue& value);
  std::string UniqueName(std::string_view wanted);
  void NewLine();

  // ---- print_op_syntax.cc
  void PrintPretty(const MlirOp& op);
  void PrintToken(std::string_view token, const MlirOp& op, size_t* operand);
  void PrintValueOf(const MlirAttr& attr);
  void PrintTypes(char mode, const MlirOp& op);
  void PrintWhile(const MlirOp& op);
  void PrintReduce(const MlirOp& op);

  // ---- print_contraction.cc
  void PrintSlice(const MlirOp& op);
  void PrintDot(const MlirOp& op);
  void PrintPrecision(const MlirOp& op);
  void PrintConvolution(const MlirOp& op);

  // ---- print_locations.cc
  void PrintLocation(const MlirLocation* location);
  size_t LocationNumber(const MlirLocation& location);
  void PrintLocations();

  const StablehloOptions options_;
  std::string out_;
  size_t indent_ = 0;
  // The name of a value, and its index among the results of its op; -1: the only one.
  absl::flat_hash_map<const MlirValue*, std::pair<std::string, int64_t>> names_;
  absl::flat_hash_set<std::string> used_;  // in the function being printed
  absl::flat_hash_map<const MlirLocation*, size_t> location_numbers_;
  std::vector<std::string> locations_;
};

}  // namespace shoal::internal
