// Source locations. Each has a number; the definitions are at the end of the text.
#include "formats/stablehlo/mlir_text.h"
#include "formats/stablehlo/text_printer.h"

namespace shoal::internal {

void MlirTextPrinter::PrintLocation(const MlirLocation* location) {
  if (location != nullptr) StrAppend(&out_, " loc(#loc", LocationNumber(*location), ")");
}

size_t MlirTextPrinter::LocationNumber(const MlirLocation& location) {
  if (const auto known = location_numbers_.find(&location); known != location_numbers_.end()) return known->second;
  using Kind = MlirLocation::Kind;
  auto child = [&](size_t i) { return StrCat("#loc", LocationNumber(*location.children[i])); };
  std::string text;
  if (location.kind == Kind::kFile) {
    text = StrCat(QuotedText(location.text), ":", location.line, ":", location.column);
    if (location.end_line != location.line && location.end_line != 0) {
      StrAppend(&text, " to ", location.end_line, ":", location.end_column);
    } else if (location.end_column != location.column && location.end_column != 0) {
      StrAppend(&text, " to :", location.end_column);
    }
  } else if (location.kind == Kind::kName) {
    text = QuotedText(location.text);
    if (!location.children.empty()) StrAppend(&text, "(", child(0), ")");
  } else if (location.kind == Kind::kCallSite) {
    const std::string callee = child(0), caller = child(1);
    text = StrCat("callsite(", callee, " at ", caller, ")");
  } else {
    text = "unknown";
  }
  locations_.push_back(text);
  location_numbers_[&location] = locations_.size();
  return locations_.size();
}

void MlirTextPrinter::PrintLocations() {
  for (size_t i = 0; i < locations_.size(); ++i) StrAppend(&out_, "#loc", i + 1, " = loc(", locations_[i], ")\n");
}

}  // namespace shoal::internal
