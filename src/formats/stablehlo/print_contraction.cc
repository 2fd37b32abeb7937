// The pretty syntax of slices, dots and convolutions.
#include <algorithm>
#include <utility>

#include "formats/stablehlo/text_printer.h"

namespace shoal::internal {

void MlirTextPrinter::PrintSlice(const MlirOp& op) {
  const Ints starts = op.Find("start_indices")->ints, limits = op.Find("limit_indices")->ints, strides = op.Find("strides")->ints;
  out_ += '[';
  for (size_t i = 0; i < starts.size(); ++i) {
    StrAppend(&out_, i == 0 ? "" : ", ", starts[i], ":", limits[i]);
    if (strides[i] != 1) StrAppend(&out_, ":", strides[i]);
  }
  out_ += ']';
}

void MlirTextPrinter::PrintPrecision(const MlirOp& op) {
  const MlirAttr* precision = op.Find("precision_config");
  if (precision == nullptr || precision->elements.empty()) return;
  out_ += ", precision = [";
  for (const MlirAttr* const& element : precision->elements) {
    if (&element != precision->elements.data()) out_ += ", ";
    PrintValueOf(*element);
  }
  out_ += ']';
}

// batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = […], algorithm = <…>
void MlirTextPrinter::PrintDot(const MlirOp& op) {
  auto print_pair = [&](std::string_view word, std::string_view lhs, std::string_view rhs) {
    StrAppend(&out_, word, " = ");
    PrintValueOf(*op.Find(lhs));
    out_ += " x ";
    PrintValueOf(*op.Find(rhs));
  };
  if (!op.Find("lhs_batching_dimensions")->ints.empty()) {
    print_pair("batching_dims", "lhs_batching_dimensions", "rhs_batching_dimensions");
    out_ += ", ";
  }
  print_pair("contracting_dims", "lhs_contracting_dimensions", "rhs_contracting_dimensions");
  PrintPrecision(op);
  if (const MlirAttr* algorithm = op.Find("algorithm"); algorithm != nullptr)
    StrAppend(&out_, ", algorithm = ", algorithm->text.substr(algorithm->text.find('<')));
}

// dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [1, 1]]}
void MlirTextPrinter::PrintConvolution(const MlirOp& op) {
  auto print_side = [&](std::string_view side, char first, std::string_view second_name, char second, std::string_view first_name) {
    const Ints spatial = op.Find(StrCat(side, "_spatial_dimensions"))->ints;
    const int64_t first_at = op.Find(StrCat(side, first_name))->number, second_at = op.Find(StrCat(side, second_name))->number;
    out_ += '[';
    for (int64_t d = 0; d < std::ssize(spatial) + 2; ++d) {
      if (d > 0) out_ += ", ";
      const auto at = std::find(spatial.begin(), spatial.end(), d);
      if (d == first_at) out_ += first;
      else if (d == second_at) out_ += second;
      else StrAppend(&out_, at - spatial.begin());
    }
    out_ += ']';
  };
  out_ += "dim_numbers = ";
  print_side("input", 'b', "_feature_dimension", 'f', "_batch_dimension");
  out_ += 'x';
  print_side("kernel", 'i', "_output_feature_dimension", 'o', "_input_feature_dimension");
  out_ += "->";
  print_side("output", 'b', "_feature_dimension", 'f', "_batch_dimension");
  out_ += ", window = {";
  static constexpr std::pair<std::string_view, std::string_view> kLists[] = {{"stride", "window_strides"},
                                                                             {"pad", "padding"},
                                                                             {"lhs_dilate", "lhs_dilation"},
                                                                             {"rhs_dilate", "rhs_dilation"},
                                                                             {"reverse", "window_reversal"}};
  bool first = true;
  for (const auto& [word, name] : kLists) {
    const MlirAttr* list = op.Find(name);
    if (list == nullptr) continue;
    StrAppend(&out_, std::exchange(first, false) ? "" : ", ", word, " = ");
    if (list->kind == MlirAttr::Kind::kInts) {
      PrintValueOf(*list);
      continue;
    }
    // dense<[[0, 0]]> : tensor<1x2xi64>, array<i1: true, false>
    const bool is_dense = list->text.starts_with("dense<");
    const size_t begin = is_dense ? 6 : list->text.find(": ") + 2;
    const std::string_view values = list->text.substr(begin, list->text.find('>') - begin);
    out_ += is_dense ? std::string(values) : StrCat("[", values, "]");
  }
  out_ += '}';
}

}  // namespace shoal::internal
