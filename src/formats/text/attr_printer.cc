// Prints attribute values: the inverse of attr_reader.cc.
#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/lexer.h"
#include "formats/text/printer_core.h"

namespace shoal::internal {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// True if the value equals the default of an absent attribute.
bool IsDefault(const AttrDef& def, const AttrValue& value) {
  return std::visit(
      Overloaded{
          [&](bool v) { return v == (def.default_int != 0); },
          [&](int64_t v) { return v == def.default_int; },
          [&](EnumValue v) { return v.index == def.default_int; },
          [](std::string_view v) { return v.empty(); },
          [](EnumList v) { return std::all_of(v.begin(), v.end(), [](EnumValue e) { return e.index == 0; }); },
          [](const Statistics* v) { return v->values.empty(); },
          [](const SparsityConfig* v) { return !v->lhs && !v->rhs; },
          [](const auto& v) {
            if constexpr (requires { v.empty(); }) return v.empty();
            return false;
          },
      },
      value);
}

}  // namespace

bool Printer::IsShown(const Instruction& hlo, const AttrDef& def, const AttrValue* value) const {
  if (def.shown == Shown::kNever) return false;
  if (def.shown_if != nullptr && !def.shown_if(hlo)) return false;
  if (def.not_required_if != nullptr && value == nullptr && def.kind == AttrKind::kComputation) return false;
  if (def.not_required_if != nullptr && value == nullptr && def.kind == AttrKind::kComputations) return false;
  if (def.shown == Shown::kAlways) return true;
  if (value == nullptr) return false;
  return def.shown == Shown::kIfGiven || !IsDefault(def, *value);
}

void Printer::OwnAttributes(const Instruction& hlo, std::span<const AttrDef> defs) {
  for (const AttrDef& def : defs) {
    const AttrValue* value = hlo.Find(def.id);
    if (IsShown(hlo, def, value)) PrintAttr(def, value);
  }
}

void Printer::PrintAttr(const AttrDef& def, const AttrValue* value) {
  if (value != nullptr && std::holds_alternative<RawText>(*value)) return;
  StrAppend(&out_, ", ", def.name, "=");
  if (value != nullptr) {
    Value(def, *value);
  } else {
    DefaultValue(def);
  }
}

bool Printer::IsCommonShown(const Instruction& hlo, const AttrDef& def, const AttrValue* value) const {
  if (value == nullptr || std::holds_alternative<RawText>(*value) || !IsShown(hlo, def, value)) return false;
  if (IsDefault(def, *value)) return false;
  if (def.kind != AttrKind::kResultAccuracy) return true;
  const ResultAccuracy& accuracy = *std::get<const ResultAccuracy*>(*value);
  return accuracy.mode != 0 || accuracy.has_tolerance;
}

void Printer::CommonAttribute(const Instruction& hlo, const AttrDef& def) {
  const AttrValue* value = hlo.Find(def.id);
  if (!IsCommonShown(hlo, def, value)) return;
  if (def.kind == AttrKind::kMetadata) {
    if (!options_.metadata) return;
    Metadata renumbered = *std::get<const Metadata*>(*value);
    renumbered.stack_frame_id = FrameId(renumbered.stack_frame_id);
    if (renumbered.empty()) return;
  }
  PrintAttr(def, value);
}

void Printer::Attributes(const Instruction& hlo) {
  const Instruction* wrapped = AsyncWrapped(hlo);
  if (WrapsComputation(hlo) && wrapped != nullptr) {
    // The short form has the wrapped op's attributes between its own; `calls` is implied.
    for (const AttrDef& def : Info(hlo.opcode).attrs) {
      const AttrValue* value = hlo.Find(def.id);
      if (def.id != kCalls.id && IsShown(hlo, def, value)) PrintAttr(def, value);
      if (def.id != kAsyncExecutionThread.id) continue;
      OwnAttributes(*wrapped, Info(wrapped->opcode).attrs);
      for (const AttrDef& common : CommonAttrs()) {
        bool shared = common.id == kStatistics.id || common.id == kOrigin.id || common.id == kMetadata.id ||
                      common.id == kBackendConfig.id ||
                      (common.id == kFrontendAttributes.id && hlo.has(kFrontendAttributes));
        if (!shared) CommonAttribute(*wrapped, common);
      }
    }
  } else {
    OwnAttributes(hlo, Info(hlo.opcode).attrs);
  }
  for (const AttrDef& def : CommonAttrs()) CommonAttribute(hlo, def);
  for (const NamedAttr& attr : hlo.attrs)
    if (const RawText* raw = std::get_if<RawText>(&attr.value)) StrAppend(&out_, ", ", raw->text);
}

// Prints the default of an attribute that is always printed but absent.
void Printer::DefaultValue(const AttrDef& def) {
  switch (def.kind) {
    case AttrKind::kBool:
      out_ += def.default_int != 0 ? "true" : "false";
      break;
    case AttrKind::kInt:
      StrAppend(&out_, def.default_int);
      break;
    default:
      out_ += "{}";
      break;
  }
}

void Printer::Value(const AttrDef& def, const AttrValue& value) {
  std::visit(
      Overloaded{
          [&](bool v) { out_ += v ? "true" : "false"; },
          [&](int64_t v) { StrAppend(&out_, v); },
          [&](double v) { StrAppend(&out_, v); },
          [&](EnumValue v) { out_ += v.index < def.enum_names.size() ? def.enum_names[v.index] : "?"; },
          [&](std::string_view v) { def.kind == AttrKind::kString ? String(v) : StringOrJson(v); },
          [&](Ints v) { out_ += ToString(v); },
          [&](IntLists v) {
            StrAppend(&out_, "{", StrJoin(v, ",", [](std::string* out, Ints list) { *out += ToString(list); }), "}");
          },
          [&](Computation* v) { Name(*v); },
          [&](Computations v) {
            out_ += '{';
            for (size_t i = 0; i < v.size(); ++i) {
              if (i > 0) out_ += ", ";
              Name(*v[i]);
            }
            out_ += '}';
          },
          [&](Instructions v) {
            out_ += '{';
            for (size_t i = 0; i < v.size(); ++i) {
              if (i > 0) out_ += ", ";
              Name(*v[i]);
            }
            out_ += '}';
          },
          [&](const Window* v) { WindowText(*v); },
          [&](const ConvDims* v) { DimLabels(*v); },
          [&](std::span<const SliceRange> v) { SliceRanges(v); },
          [&](std::span<const PaddingDim> v) { Padding(v); },
          [&](const Sharding* v) { AppendSharding(out_, *v); },
          [&](const ReplicaGroups* v) { AppendReplicaGroups(out_, *v); },
          [&](std::span<const FrontendAttribute> v) { PrintFrontendAttributes(v); },
          [&](const Statistics* v) {
            auto one = [](std::string* out, const Statistic& s) { StrAppend(out, s.name, "=", s.value); };
            StrAppend(&out_, "{visualizing_index=", v->visualizing_index, ",", StrJoin(v->values, ",", one), "}");
          },
          [&](std::span<const bool> v) {
            auto one = [](std::string* out, bool b) { *out += b ? "true" : "false"; };
            StrAppend(&out_, "{", StrJoin(v, ",", one), "}");
          },
          [&](const Metadata* v) { MetadataText(*v); },
          [&](const Domain* v) {
            StrAppend(&out_, "{kind=\"", v->kind, "\", entry=");
            AppendSharding(out_, *v->entry);
            out_ += ", exit=";
            AppendSharding(out_, *v->exit);
            out_ += '}';
          },
          [&](EnumList v) {
            auto one = [&](std::string* out, EnumValue e) {
              *out += e.index < def.enum_names.size() ? def.enum_names[e.index] : "?";
            };
            StrAppend(&out_, "{", StrJoin(v, ",", one), "}");
          },
          [&](const Shape* v) { AppendShape(out_, *v); },
          [&](std::span<const Shape* const> v) {
            auto one = [](std::string* out, const Shape* shape) { AppendShape(*out, *shape); };
            StrAppend(&out_, "{", StrJoin(v, ", ", one), "}");
          },
          [&](const Literal* v) { AppendLiteral(out_, *v, /*with_shape=*/true); },
          [&](const ResultAccuracy* v) { Accuracy(*v); },
          [&](std::span<const OutputOperandAlias> v) { Aliasing(v); },
          [&](const OriginalValue* v) { Origin(*v); },
          [&](const SparsityConfig* v) { Sparsity(*v); },
          [&](RawText v) { out_ += v.text; },
      },
      value);
}

void Printer::String(std::string_view text) {
  out_ += '"';
  AppendEscaped(out_, text);
  out_ += '"';
}

// As XLA does, removes an obsolete field with an empty list, which older GPU dumps contain.
std::string_view Printer::WithoutObsoleteFields(std::string_view text, std::string& storage) {
  constexpr std::string_view kField = "\"wait_on_operation_queues\"";
  size_t at = text.find(kField);
  if (at == std::string_view::npos) return text;
  auto skip = [&](size_t from) { return std::min(text.find_first_not_of(" \t\r\n\f\v", from), text.size()); };
  auto eat = [&](size_t from, char c) {
    return from < text.size() && text[from] == c ? skip(from + 1) : std::string_view::npos;
  };
  size_t copied = 0;
  for (; at != std::string_view::npos; at = text.find(kField, at + 1)) {
    size_t end = skip(at + kField.size());
    for (char c : {':', '[', ']'})
      if (end != std::string_view::npos) end = eat(end, c);
    if (end == std::string_view::npos || end >= text.size() || text[end] != ',') continue;
    storage += text.substr(copied, at - copied);
    copied = end + 1;
  }
  storage += text.substr(copied);
  return storage;
}

void Printer::StringOrJson(std::string_view text) {
  std::string storage;
  text = WithoutObsoleteFields(text, storage);
  if (LexesAsJsonDict(text)) {
    out_ += text;
  } else {
    String(text);
  }
}

void Printer::PrintFrontendAttributes(std::span<const FrontendAttribute> attributes) {
  out_ += '{';
  for (size_t i = 0; i < attributes.size(); ++i) {
    StrAppend(&out_, i > 0 ? "," : "", attributes[i].name, "=");
    StringOrJson(attributes[i].value);
  }
  out_ += '}';
}

void Printer::MetadataText(const Metadata& metadata) {
  Metadata renumbered = metadata;
  renumbered.stack_frame_id = FrameId(metadata.stack_frame_id);
  out_ += '{';
  AppendMetadata(out_, renumbered);
  out_ += '}';
}

void Printer::WindowText(const Window& window) {
  out_ += '{';
  auto field = [&](const char* name, auto is_default, auto text) {
    if (std::all_of(window.dims.begin(), window.dims.end(), is_default)) return;
    if (out_.back() != '{') out_ += ' ';
    StrAppend(&out_, name, "=",
              StrJoin(window.dims, "x", [&](std::string* out, const WindowDim& dim) { text(out, dim); }));
  };
  using Dim = const WindowDim&;
  if (!window.dims.empty()) {
    field(
        "size", [](Dim) { return false; }, [](std::string* out, Dim d) { StrAppend(out, d.size); });
    field(
        "stride", [](Dim d) { return d.stride == 1; }, [](std::string* out, Dim d) { StrAppend(out, d.stride); });
    field(
        "pad", [](Dim d) { return d.pad_low == 0 && d.pad_high == 0; },
        [](std::string* out, Dim d) { StrAppend(out, d.pad_low, "_", d.pad_high); });
    field(
        "lhs_dilate", [](Dim d) { return d.base_dilation == 1; },
        [](std::string* out, Dim d) { StrAppend(out, d.base_dilation); });
    field(
        "rhs_dilate", [](Dim d) { return d.window_dilation == 1; },
        [](std::string* out, Dim d) { StrAppend(out, d.window_dilation); });
    field(
        "rhs_reversal", [](Dim d) { return !d.reversal; },
        [](std::string* out, Dim d) { *out += d.reversal ? '1' : '0'; });
  }
  out_ += '}';
}

void Printer::DimLabels(const ConvDims& dims) {
  auto part = [&](int64_t a, char a_label, int64_t b, char b_label, Ints spatial) {
    int64_t last = std::max(a, b);
    for (int64_t index : spatial) last = std::max(last, index);
    std::string labels(static_cast<size_t>(std::max<int64_t>(last, 0)) + 1, '?');
    auto put = [&](int64_t index, char label) {
      if (index >= 0) labels[static_cast<size_t>(index)] = label;
    };
    put(a, a_label);
    put(b, b_label);
    for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], static_cast<char>('0' + i));
    out_ += labels;
  };
  part(dims.input_batch, 'b', dims.input_feature, 'f', dims.input_spatial);
  out_ += '_';
  part(dims.kernel_input_feature, 'i', dims.kernel_output_feature, 'o', dims.kernel_spatial);
  out_ += "->";
  part(dims.output_batch, 'b', dims.output_feature, 'f', dims.output_spatial);
}

void Printer::SliceRanges(std::span<const SliceRange> ranges) {
  const bool strided = std::any_of(ranges.begin(), ranges.end(), [](const SliceRange& r) { return r.stride != 1; });
  auto one = [&](std::string* out, const SliceRange& range) {
    StrAppend(out, "[", range.start, ":", range.limit);
    if (strided) StrAppend(out, ":", range.stride);
    *out += ']';
  };
  StrAppend(&out_, "{", StrJoin(ranges, ", ", one), "}");
}

void Printer::Padding(std::span<const PaddingDim> dims) {
  const bool interior = std::any_of(dims.begin(), dims.end(), [](const PaddingDim& d) { return d.interior != 0; });
  auto one = [&](std::string* out, const PaddingDim& dim) {
    StrAppend(out, dim.low, "_", dim.high);
    if (interior) StrAppend(out, "_", dim.interior);
  };
  out_ += StrJoin(dims, "x", one);
}

void Printer::Aliasing(std::span<const OutputOperandAlias> aliases) {
  auto one = [](std::string* out, const OutputOperandAlias& alias) {
    StrAppend(out, ToString(alias.output_index), ": (", alias.operand, ", ", ToString(alias.operand_index), ")");
  };
  StrAppend(&out_, "{", StrJoin(aliases, ", ", one), "}");
}

// Prints the leaves, with parentheses for the tuples that contain them.
void Printer::Origin(const OriginalValue& value) {
  out_ += '{';
  if (value.leaves.empty()) out_ += "()";
  std::vector<int64_t> open;  // index of the last printed leaf
  for (const OriginalValue::Leaf& leaf : value.leaves) {
    size_t same = 0;
    while (same < open.size() && same < leaf.index.size() && open[same] == leaf.index[same]) ++same;
    if (!open.empty()) {
      for (size_t i = open.size(); i > same + 1; --i) out_ += ')';
      out_ += ", ";
    }
    for (size_t i = open.empty() ? 0 : same + 1; i < leaf.index.size(); ++i) out_ += '(';
    out_ += '{';
    if (!leaf.array.instruction_name.empty()) AppendOriginalArray(out_, leaf.array);
    out_ += '}';
    open.assign(leaf.index.begin(), leaf.index.end());
  }
  out_.append(open.size(), ')');
  auto quoted = [](std::string* out, std::string_view call) { StrAppend(out, "\"", call, "\""); };
  if (!value.calls.empty()) StrAppend(&out_, ",[", StrJoin(value.calls, ",", quoted), "]");
  out_ += '}';
}

void Printer::Accuracy(const ResultAccuracy& accuracy) {
  if (accuracy.mode != 0) {
    StrAppend(&out_, "{mode=", kResultAccuracyModes[accuracy.mode], "}");
  } else {
    StrAppend(&out_, "{tolerance={atol=", accuracy.atol, ",rtol=", accuracy.rtol, ",ulps=", accuracy.ulps, "}}");
  }
}

void Printer::Sparsity(const SparsityConfig& config) {
  auto tensor = [&](const char* name, const TensorSparsity& t) {
    if (out_.back() != '{') out_ += ' ';
    StrAppend(&out_, name, "={sparsity=", t.num_non_zero, "x", t.block_size, " dimension=", t.dimension,
              " stride=", t.stride, " idx=", t.idx, "}");
  };
  out_ += '{';
  if (config.lhs) tensor("lhs", *config.lhs);
  if (config.rhs) tensor("rhs", *config.rhs);
  out_ += '}';
}

}  // namespace shoal::internal
