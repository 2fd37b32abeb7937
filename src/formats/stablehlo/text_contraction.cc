// The pretty syntax of dots and convolutions.
#include <algorithm>

#include "formats/stablehlo/element_names.h"
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {

bool MlirTextReader::ReadDotDimensions(Draft& draft) {
  auto read_pair = [&](std::string_view lhs_name, std::string_view rhs_name) {
    std::vector<int64_t> lhs, rhs;
    if (!Expect('=') || !ReadInts(lhs) || !Expect('x') || !ReadInts(rhs)) return false;
    draft.attrs.push_back({lhs_name, IntsAttr(lhs)});
    draft.attrs.push_back({rhs_name, IntsAttr(rhs)});
    return true;
  };
  bool has_contracting = false;
  if (EatKeyword("batching_dims")) {
    if (!read_pair("lhs_batching_dimensions", "rhs_batching_dimensions")) return false;
    if (!Eat(',')) has_contracting = true;
  }
  if (!has_contracting && EatKeyword("contracting_dims")) {
    if (!read_pair("lhs_contracting_dimensions", "rhs_contracting_dimensions")) return false;
  } else if (!has_contracting) {
    return Error("expected 'contracting_dims ='");
  }
  while (Peek() == ',') {
    ++at_;
    if (AtKeyword("precision")) {
      if (!EatKeyword("precision") || !Expect('=')) return false;
      std::vector<const MlirAttr*> precisions;
      if (!Expect('[')) return false;
      if (!Eat(']')) {
        do {
          precisions.push_back(Keyword(ReadBareName()));
        } while (Eat(','));
        if (!Expect(']')) return false;
      }
      MlirAttr* attr = NewAttr(Kind::kArray);
      attr->elements = module_.arena.Copy(precisions);
      draft.attrs.push_back({"precision_config", attr});
      continue;
    }
    if (!EatKeyword("algorithm") || !Expect('=') || !Expect('<'))
      return Error("expected precision = […] or algorithm = <…>");
    Attrs fields;
    if (!ReadDictionary(fields, '>')) return false;
    MlirAttr* attr = NewAttr(Kind::kDictionary);
    attr->text = "stablehlo.dot_algorithm";
    attr->fields = module_.arena.Copy(fields);
    draft.attrs.push_back({"algorithm", attr});
  }
  return true;
}

// , precision = [DEFAULT, HIGH]
bool MlirTextReader::ReadPrecision(Draft& draft) {
  if (!Eat(',')) return true;
  if (!Expect("precision") || !Expect('=') || !Expect('[')) return false;
  std::vector<const MlirAttr*> precisions;
  if (!Eat(']')) {
    do {
      precisions.push_back(Keyword(ReadBareName()));
    } while (Eat(','));
    if (!Expect(']')) return false;
  }
  MlirAttr* attr = NewAttr(Kind::kArray);
  attr->elements = module_.arena.Copy(precisions);
  draft.attrs.push_back({"precision_config", attr});
  return true;
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
bool MlirTextReader::ReadConvDimensions(Attrs& attrs) {
  struct Side {
    char first, second;
    std::string_view first_name, second_name, spatial_name;
  };
  static constexpr Side kSides[] = {
      {'b', 'f', "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
      {'i', 'o', "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"},
      {'b', 'f', "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}};
  for (const Side& side : kSides) {
    if (&side == &kSides[1] && !Expect('x')) return false;
    if (&side == &kSides[2] && !Expect("->")) return false;
    if (!Expect('[')) return false;
    std::vector<int64_t> spatial;
    int64_t first = -1, second = -1, position = 0;
    do {
      const char c = Peek();
      if (c == side.first) {
        ++at_;
        first = position;
      } else if (c == side.second) {
        ++at_;
        second = position;
      } else if (Eat('?')) {
        // A dimension that the convolution does not use.
      } else {
        int64_t number = 0;
        if (!ReadInt(&number)) return false;
        if (number < 0 || number > 64) return Error("a spatial dimension must lie in [0, 64]");
        if (std::ssize(spatial) <= number) spatial.resize(static_cast<size_t>(number) + 1, -1);
        spatial[static_cast<size_t>(number)] = position;
      }
      ++position;
    } while (Eat(','));
    if (!Expect(']')) return false;
    if (first < 0 || second < 0 || std::count(spatial.begin(), spatial.end(), -1) > 0)
      return Error("the dimensions of a convolution must name each of its dimensions once");
    attrs.push_back({side.first_name, IntAttr(first)});
    attrs.push_back({side.second_name, IntAttr(second)});
    attrs.push_back({side.spatial_name, IntsAttr(spatial)});
  }
  return true;
}

// dim_numbers = […]x[…]->[…], window = {stride = [1, 1], pad = [[0, 0], [1, 1]], …}
bool MlirTextReader::ReadConvWindow(Draft& draft) {
  if (!EatKeyword("dim_numbers") || !Expect('=') || !ReadConvDimensions(draft.attrs)) return false;
  if (!Expect(',') || !EatKeyword("window") || !Expect('=') || !Expect('{')) return Error("expected 'window = {'");
  if (Eat('}')) return true;
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"stride", "window_strides"},
                                                                             {"lhs_dilate", "lhs_dilation"},
                                                                             {"rhs_dilate", "rhs_dilation"},
                                                                             {"reverse", "window_reversal"}};
  do {
    const std::string_view word = ReadBareName();
    if (!Expect('=')) return false;
    if (word == "pad") {  // [[0, 0], [1, 1]], stored as one list
      std::vector<int64_t> padding;
      if (!Expect('[')) return false;
      if (!Eat(']')) {
        do {
          if (!ReadInts(padding)) return false;
        } while (Eat(','));
        if (!Expect(']')) return false;
      }
      draft.attrs.push_back({"padding", IntsAttr(padding)});
      continue;
    }
    const auto* known = std::find_if(std::begin(kNames), std::end(kNames), [&](auto& name) { return name.first == word; });
    if (known == std::end(kNames)) return Error(StrCat("unknown property of a window, ", word));
    std::vector<int64_t> values;
    if (word == "reverse") {
      if (!Expect('[')) return false;
      while (Peek() != ']') {
        if (EatKeyword("true")) {
          values.push_back(1);
        } else if (EatKeyword("false")) {
          values.push_back(0);
        } else {
          int64_t number = 0;
          if (!ReadInt(&number)) return false;
          values.push_back(number != 0 ? 1 : 0);
        }
        if (!Eat(',')) break;
      }
      if (!Expect(']')) return false;
    } else if (!ReadInts(values)) {
      return false;
    }
    draft.attrs.push_back({known->second, IntsAttr(values)});
  } while (Eat(','));
  return Expect('}');
}

// format = e5m2

}  // namespace shoal::internal
