#include "formats/text/printer.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/printer_core.h"

namespace shoal::internal {
namespace {

constexpr int64_t kLargeConstant = 10;

// True if XLA prints this value as {...} by default.
bool IsLarge(const Literal& literal) {
  if (!literal.shape->IsArray()) return true;
  std::optional<int64_t> count = literal.shape->ElementCount();
  return !count || *count > kLargeConstant;
}

bool EqualIgnoringTrailingNewlines(std::string_view a, std::string_view b) {
  while (a.ends_with('\n')) a.remove_suffix(1);
  while (b.ends_with('\n')) b.remove_suffix(1);
  return a == b;
}

}  // namespace

std::string PrintModule(const Module& module, const PrintOptions& options) { return Printer(module, options).Print(); }

std::string PrintInstructions(const Module& module) {
  PrintOptions options;
  options.elide_large_constants = true;
  options.renumber_frames = false;
  return Printer::AsWritten(module, options).PrintLines();
}

std::string PrintModuleLikeSource(const Module& module, PrintOptions options) {
  options.renumber_frames = options.reorder_computations = false;
  std::string as_written = PrintModule(module, options);
  if (module.names_are_final) return as_written;  // a protobuf: already in canonical order
  if (EqualIgnoringTrailingNewlines(module.source->text(), as_written)) return as_written;
  options.renumber_frames = options.reorder_computations = true;
  return PrintModule(module, options);
}

std::string Printer::PrintLines() {
  FindCallers();
  out_.reserve(module_.source->text().size() * 5 / 4);
  for (const Computation* computation : module_.computations)
    for (const Instruction* hlo : computation->instructions) {
      const size_t start = out_.size();
      if (hlo == computation->root) out_ += "ROOT ";
      PrintInstruction(*hlo);
      std::replace(out_.begin() + static_cast<int64_t>(start), out_.end(), '\n', ' ');
      out_ += '\n';
    }
  return std::move(out_);
}

namespace {

// True if a constant has more elements than the text has characters. It would be printed with all its elements.
bool HasLongerConstant(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (const Literal* literal = (*hlo)[kConstantValue]; literal != nullptr && !literal->elided &&
          literal->shape->IsArray() &&
          literal->shape->ElementCount().value_or(INT64_MAX) > std::ssize(module.source->text()))
        return true;
  return false;
}

}  // namespace

bool IsCanonicalText(const Module& module) {
  if (module.names_are_final) return true;
  if (module.source == nullptr || HasLongerConstant(module)) return false;
  PrintOptions options;
  options.renumber_frames = options.reorder_computations = false;
  const std::string printed = PrintModule(module, options);
  return EqualIgnoringTrailingNewlines(module.source->text(), printed);
}

std::string Printer::Print() {
  FindCallers();
  out_.reserve(module_.source->text().size() * 5 / 4);
  Header();
  if (options_.metadata) StackFrameTables();
  out_ += "\n\n";
  for (const Computation* computation : options_.reorder_computations ? PostOrder(module_) : module_.computations) {
    // The short form of an async op implies its computation, which is not printed.
    if (async_.contains(computation) && computation->root != nullptr) {
      bool single = true;
      for (const Instruction* hlo : computation->instructions)
        single &= hlo == computation->root || IsParameter(*hlo);
      if (single) continue;
    }
    PrintComputation(*computation);
  }
  return std::move(out_);
}

void Printer::FindCallers() {
  for (const Computation* computation : module_.computations) {
    for (const Instruction* hlo : computation->instructions) {
      if (WrapsComputation(*hlo) && (*hlo)[kCalls] != nullptr) async_[(*hlo)[kCalls]] = true;
    }
  }
}

void Printer::Header() {
  StrAppend(&out_, "HloModule ", module_.name);
  if (module_.is_scheduled) out_ += ", is_scheduled=true";
  if (!module_.input_output_alias.empty()) {
    auto one = [](std::string* out, const InputOutputAlias& alias) {
      StrAppend(out, ToString(alias.output_index), ": (", alias.parameter, ", ", ToString(alias.parameter_index), ", ",
                alias.kind == AliasKind::kMust ? "must-alias" : "may-alias", ")");
    };
    StrAppend(&out_, ", input_output_alias={ ", StrJoin(module_.input_output_alias, ", ", one), " }");
  }
  if (!module_.buffer_donors.empty()) {
    auto one = [](std::string* out, const BufferDonor& donor) {
      StrAppend(out, "(", donor.parameter, ", ", ToString(donor.parameter_index), ")");
    };
    StrAppend(&out_, ", buffer_donor={ ", StrJoin(module_.buffer_donors, ", ", one), " }");
  }
  if (module_.alias_passthrough_params) out_ += ", alias_passthrough_params=true";
  EntryLayoutText();
  auto flags = [&](const char* name, const std::vector<bool>& values) {
    if (values.size() == 1 && !values[0]) return;
    auto one = [](std::string* out, bool value) { *out += value ? "true" : "false"; };
    StrAppend(&out_, ", ", name, "={", StrJoin(values, ",", one), "}");
  };
  flags("allow_spmd_sharding_propagation_to_parameters", module_.allow_spmd_sharding_propagation_to_parameters);
  flags("allow_spmd_sharding_propagation_to_output", module_.allow_spmd_sharding_propagation_to_output);
  if (module_.replica_count != 1) StrAppend(&out_, ", replica_count=", module_.replica_count);
  if (module_.num_partitions != 1) StrAppend(&out_, ", num_partitions=", module_.num_partitions);
  if (!module_.frontend_attributes.empty()) {
    out_ += ", frontend_attributes=";
    PrintFrontendAttributes(module_.frontend_attributes);
  }
  for (std::string_view attribute : module_.unknown_attributes) StrAppend(&out_, ", ", attribute);
  OriginRecoveryTable();
  DebugAttributesTable();
}

void Printer::EntryLayoutText() {
  std::vector<const Shape*> parameters;
  const Shape* result = nullptr;
  if (module_.entry_layout) {
    parameters = module_.entry_layout->parameters;
    result = module_.entry_layout->result;
  } else {
    for (const Instruction* parameter : module_.entry->parameters)
      if (parameter != nullptr) parameters.push_back(&parameter->shape());
    result = &module_.entry->root->shape();
  }
  out_ += ", entry_computation_layout={(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0) out_ += ", ";
    if (i > 0 && i % 5 == 0) StrAppend(&out_, "/*index=", i, "*/");
    AppendShape(out_, *parameters[i]);
  }
  out_ += ")->";
  AppendShape(out_, *result);
  out_ += '}';
}

void Printer::OriginRecoveryTable() {
  if (module_.origin_recovery.empty()) return;
  out_ += ", origin_recovery_table={\n";
  for (const OriginRecovery& entry : module_.origin_recovery) {
    out_ += "  {";
    AppendOriginalArray(out_, entry.replaced);
    out_ += "} : {";
    AppendOriginalArray(out_, entry.replacing);
    out_ += "}";
    if (entry.module != nullptr) {
      // Prints the module inside a string: indented twice, quotes and backslashes escaped.
      std::string inner = PrintModule(*entry.module);
      out_ += ",\n  \"\n";
      bool line_start = true;
      for (char c : inner) {
        if (line_start && c != '\n') out_ += "    ";
        line_start = c == '\n';
        if (c == '"' || c == '\\') out_ += '\\';
        out_ += c;
      }
      out_ += "\n  \"";
    }
    out_ += "\n";
  }
  out_ += "}\n";
}

void Printer::DebugAttributesTable() {
  std::vector<std::string> rows;
  for (const DebugAttributesEntry& entry : module_.debug_attributes) {
    if (entry.attributes.empty()) continue;
    std::string row = "  {";
    AppendOriginalArray(row, entry.array);
    row += "}:(";
    for (size_t i = 0; i < entry.attributes.size(); ++i) {
      const DebugAttributes& one = entry.attributes[i];
      std::vector<std::string> parts;
      if (one.log_mode == DebugAttributes::LogMode::kDefault) parts.push_back("log_mode=default");
      if (one.log_mode == DebugAttributes::LogMode::kFusionDebugger) parts.push_back("log_mode=fusion_debugger");
      if (one.callback_id != 0) parts.push_back(StrCat("callback_id=", one.callback_id));
      if (one.partitioned) parts.push_back("partitioned=true");
      if (one.op_id != 0) parts.push_back(StrCat("op_id=", one.op_id));
      StrAppend(&row, i > 0 ? "," : "", "{", StrJoin(parts, ","), "}");
    }
    rows.push_back(row + ")");
  }
  if (!rows.empty()) StrAppend(&out_, ",\ndebug_attributes={\n", StrJoin(rows, ",\n"), "\n}");
}

void Printer::StackFrameTables() {
  const StackFrames& tables = options_.renumber_frames ? frames_->tables : module_.stack_frames;
  if (tables.empty()) return;
  auto names = [&](const char* title, std::span<const std::string_view> rows) {
    StrAppend(&out_, title, "\n");
    for (size_t i = 0; i < rows.size(); ++i) {
      StrAppend(&out_, i + 1, " \"");
      AppendEscaped(out_, rows[i]);
      out_ += "\"\n";
    }
  };
  names("\n\nFileNames", tables.file_names);
  names("\nFunctionNames", tables.function_names);
  out_ += "\nFileLocations\n";
  for (size_t i = 0; i < tables.locations.size(); ++i) {
    const StackFrames::Location& row = tables.locations[i];
    StrAppend(&out_, i + 1, " {file_name_id=", row.file_name_id, " function_name_id=", row.function_name_id,
              " line=", row.line, " end_line=", row.end_line, " column=", row.column, " end_column=", row.end_column,
              "}\n");
  }
  out_ += "\nStackFrames\n";
  for (size_t i = 0; i < tables.frames.size(); ++i)
    StrAppend(&out_, i + 1, " {file_location_id=", tables.frames[i].file_location_id,
              " parent_frame_id=", tables.frames[i].parent_frame_id + 1, "}\n");
}

void Printer::Name(const Instruction& hlo) {
  if (options_.percent) out_ += '%';
  out_ += NameOf(hlo);
}

void Printer::Name(const Computation& computation) {
  if (options_.percent) out_ += '%';
  out_ += NameOf(computation);
}

void Printer::PrintComputation(const Computation& computation) {
  if (&computation == module_.entry) out_ += "ENTRY ";
  Name(computation);
  out_ += ' ';
  if (options_.signatures) {
    out_ += '(';
    bool first = true;
    for (const Instruction* parameter : computation.parameters) {
      if (parameter == nullptr) continue;
      StrAppend(&out_, first ? "" : ", ", NameOf(*parameter), ": ");
      AppendShape(out_, parameter->shape(), /*with_layout=*/false);
      first = false;
    }
    out_ += ") -> ";
    AppendShape(out_, computation.root->shape(), /*with_layout=*/false);
    out_ += ' ';
  }
  out_ += "{\n";
  for (const Instruction* hlo : computation.instructions) {
    out_ += hlo == computation.root ? "  ROOT " : "  ";
    PrintInstruction(*hlo);
    out_ += '\n';
  }
  out_ += '}';
  if (computation.execution_thread != "main")
    StrAppend(&out_, ", execution_thread=\"", computation.execution_thread, "\"");
  out_ += "\n\n";
}

void Printer::PrintInstruction(const Instruction& hlo) {
  Name(hlo);
  out_ += " = ";
  AppendShape(out_, hlo.shape());
  out_ += ' ';
  const Instruction* wrapped = AsyncWrapped(hlo);
  if (wrapped != nullptr) {
    StrAppend(&out_, Text(wrapped->opcode), Text(hlo.opcode).substr(5));
  } else if (hlo.has(kAsyncWrappedOpcode)) {
    StrAppend(&out_, hlo[kAsyncWrappedOpcode], Text(hlo.opcode).substr(5));
  } else if (IsUnknown(hlo)) {
    out_ += hlo[kUnknownOpcode];
  } else {
    out_ += Text(hlo.opcode);
  }
  out_ += '(';
  Operands(hlo);
  out_ += ')';
  Attributes(hlo);
}

void Printer::Operands(const Instruction& hlo) {
  if (IsParameter(hlo)) {
    StrAppend(&out_, hlo[kParameterNumber]);
    return;
  }
  if (const Literal* literal = hlo[kConstantValue]; IsConstant(hlo)) {
    if (literal == nullptr || literal->elided || (options_.elide_large_constants && IsLarge(*literal))) {
      out_ += "{...}";
    } else {
      AppendLiteral(out_, *literal, /*with_shape=*/false);
    }
    return;
  }
  for (size_t i = 0; i < hlo.operands.size(); ++i) {
    if (i > 0) out_ += ", ";
    if (i > 0 && i % 5 == 0 && options_.index_comments) StrAppend(&out_, "/*index=", i, "*/");
    Name(*hlo.operands[i]);
  }
}

}  // namespace shoal::internal
