// Reads windows, padding, slices and the dimension labels of a convolution.
#include <charconv>

#include "formats/text/attr_reader.h"

namespace shoal::internal {
namespace {

// Splits "1x-2" at `separator` into integers.
bool SplitInts(std::string_view text, char separator, std::vector<int64_t>* numbers) {
  while (true) {
    size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    numbers->emplace_back();
    auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), numbers->back());
    if (error != std::errc() || stop != part.data() + part.size()) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

// 3 or 3x4x5
bool AttrReader::ReadDxD(std::vector<int64_t>* numbers) {
  if (!numbers->empty()) return ErrorHere("duplicate window field");
  if (kind() == Tok::kInt) {
    numbers->push_back(token().integer);
  } else if (kind() != Tok::kDxD || !SplitInts(token().text, 'x', numbers)) {
    return ErrorHere("expected a size such as 3 or 3x3");
  }
  lexer_.Next();
  return true;
}

// {size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1}
bool AttrReader::ReadWindow(AttrValue* value) {
  const TextSpan at = token().span();
  std::vector<int64_t> size, stride, lhs_dilate, rhs_dilate, rhs_reversal;
  std::vector<std::pair<int64_t, int64_t>> pad;
  if (!Expect(Tok::kLbrace, "'{' before the window")) return false;
  while (kind() != Tok::kRbrace) {
    std::string_view name;
    TextSpan name_at = token().span();
    if (!ReadAttrName(&name)) return false;
    bool good = true;
    if (name == "size") {
      good = ReadDxD(&size);
    } else if (name == "stride") {
      good = ReadDxD(&stride);
    } else if (name == "lhs_dilate") {
      good = ReadDxD(&lhs_dilate);
    } else if (name == "rhs_dilate") {
      good = ReadDxD(&rhs_dilate);
    } else if (name == "rhs_reversal") {
      good = ReadDxD(&rhs_reversal);
    } else if (name == "pad") {
      std::vector<std::vector<int64_t>> pairs;
      good = ReadPadNumbers(&pairs);
      for (const auto& pair : pairs) {
        if (pair.size() != 2) return Error(name_at, "the pad of a window must be low_high for each dimension");
        pad.emplace_back(pair[0], pair[1]);
      }
    } else {
      return Error(name_at, StrCat("unknown window field ", name));
    }
    if (!good) return false;
  }
  auto fits = [&](const auto& list) { return list.empty() || list.size() == size.size(); };
  if (!fits(stride) || !fits(lhs_dilate) || !fits(rhs_dilate) || !fits(rhs_reversal) || !fits(pad))
    return Error(at, StrCat("every window field must have ", size.size(), " dimensions, like size"));
  std::span<WindowDim> dims = module_.arena.NewSpan<WindowDim>(size.size());
  for (size_t i = 0; i < size.size(); ++i) {
    dims[i] = {size[i],
               stride.empty() ? 1 : stride[i],
               pad.empty() ? 0 : pad[i].first,
               pad.empty() ? 0 : pad[i].second,
               lhs_dilate.empty() ? 1 : lhs_dilate[i],
               rhs_dilate.empty() ? 1 : rhs_dilate[i],
               !rhs_reversal.empty() && rhs_reversal[i] == 1};
  }
  *value = static_cast<const Window*>(module_.arena.New<Window>(dims));
  lexer_.Next();
  return true;
}

// 0_1x2_3_1
bool AttrReader::ReadPadNumbers(std::vector<std::vector<int64_t>>* dims) {
  if (kind() != Tok::kPad) return ErrorHere("expected padding such as 0_1x0_1");
  std::string_view text = token().text;
  while (true) {
    size_t end = text.find('x');
    dims->emplace_back();
    if (!SplitInts(text.substr(0, end), '_', &dims->back())) return ErrorHere("a padding does not fit into 64 bits");
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  lexer_.Next();
  return true;
}

bool AttrReader::ReadPadding(AttrValue* value) {
  std::vector<std::vector<int64_t>> numbers;
  if (!ReadPadNumbers(&numbers)) return false;
  std::span<PaddingDim> dims = module_.arena.NewSpan<PaddingDim>(numbers.size());
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i] = {numbers[i][0], numbers[i][1], numbers[i].size() > 2 ? numbers[i][2] : 0};
  *value = std::span<const PaddingDim>(dims);
  return true;
}

// b01f_01io->b01f: the role of each dimension of the operands and the result; '?' marks a dimension without a role.
bool AttrReader::ReadDimLabels(AttrValue* value) {
  if (kind() != Tok::kDimLabels) return ErrorHere("expected dim labels such as b01f_01io->b01f");
  std::string_view text = token().text;
  const size_t underscore = text.find('_'), arrow = text.find("->");
  ConvDims* dims = module_.arena.New<ConvDims>();
  auto read_part = [&](std::string_view labels, char first, char second, int64_t* first_dim, int64_t* second_dim,
                       Ints* spatial) {
    int64_t count = 0;
    for (char c : labels) count += c >= '0' && c <= '9' ? 1 : 0;
    std::span<int64_t> indices = module_.arena.NewSpan<int64_t>(static_cast<size_t>(count));
    std::fill(indices.begin(), indices.end(), -1);
    uint64_t seen = 0;
    for (size_t i = 0; i < labels.size(); ++i) {
      const char c = labels[i];
      if (c == '?') continue;
      const uint64_t bit = uint64_t{1} << (c - '0') % 64;
      if ((seen & bit) != 0) return ErrorHere(StrCat("'", std::string_view(&c, 1), "' appears twice in ", labels));
      seen |= bit;
      if (c == first) {
        *first_dim = static_cast<int64_t>(i);
      } else if (c == second) {
        *second_dim = static_cast<int64_t>(i);
      } else if (c >= '0' && c < '0' + count) {
        indices[static_cast<size_t>(c - '0')] = static_cast<int64_t>(i);
      } else {
        return ErrorHere(StrCat("the spatial dimensions in ", labels, " must be numbered from 0"));
      }
    }
    *spatial = indices;
    return true;
  };
  if (!read_part(text.substr(0, underscore), 'b', 'f', &dims->input_batch, &dims->input_feature,
                 &dims->input_spatial) ||
      !read_part(text.substr(underscore + 1, arrow - underscore - 1), 'i', 'o', &dims->kernel_input_feature,
                 &dims->kernel_output_feature, &dims->kernel_spatial) ||
      !read_part(text.substr(arrow + 2), 'b', 'f', &dims->output_batch, &dims->output_feature, &dims->output_spatial))
    return false;
  if (dims->input_spatial.size() != dims->kernel_spatial.size() ||
      dims->input_spatial.size() != dims->output_spatial.size())
    return ErrorHere(StrCat("input, kernel and output must have the same number of spatial dimensions, got ",
                            dims->input_spatial.size(), ", ", dims->kernel_spatial.size(), ", ",
                            dims->output_spatial.size()));
  *value = static_cast<const ConvDims*>(dims);
  lexer_.Next();
  return true;
}

// {[0:4], [1:8:2]}
bool AttrReader::ReadSliceRanges(AttrValue* value) {
  std::vector<SliceRange> ranges;
  bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    TextSpan at = token().span();
    Ints numbers;
    if (!ReadInts(&numbers, Tok::kLsquare, Tok::kRsquare, Tok::kColon)) return false;
    if (numbers.size() != 2 && numbers.size() != 3) return Error(at, "expected [start:limit] or [start:limit:stride]");
    ranges.push_back({numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 1});
    return true;
  });
  *value = std::span<const SliceRange>(module_.arena.Copy(ranges));
  return good;
}

}  // namespace shoal::internal
