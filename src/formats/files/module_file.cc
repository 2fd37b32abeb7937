#include "formats/files/module_file.h"

#include "core/base/strings.h"
#include "formats/files/graph_dump.h"
#include "formats/proto/detect.h"
#include "formats/proto/read.h"
#include "formats/proto/write.h"
#include "formats/stablehlo/read.h"
#include "formats/stablehlo/write.h"
#include "formats/text/printer.h"

namespace shoal::internal {
namespace {

// True if the beginning of the file contains a zero byte, which text never does.
bool LooksBinary(std::string_view bytes) { return bytes.substr(0, 4096).find('\0') != std::string_view::npos; }

// The kind of a text that is certainly not HLO, with the command that leads to HLO. Empty for other texts.
std::string OtherLanguage(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const std::string_view head = text.substr(first == std::string_view::npos ? 0 : first, 4096);
  constexpr std::string_view kDump =
      "; compile it with XLA_FLAGS=--xla_dump_to=DIR, or print jax.jit(f).lower(…).compile().as_text()";
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if ((head.starts_with("module ") || head.starts_with("module@") || head.starts_with("func.func") || head.starts_with("#loc")) && !has("HloModule"))
    return StrCat(has("mhlo.") ? "MHLO" : "MLIR", ", neither HLO nor StableHLO", kDump);
  if (head.starts_with("{ lambda")) return StrCat("a jaxpr, not HLO", kDump);
  if (head.starts_with("import ") || head.starts_with("from ") || head.starts_with("def ") || (head.starts_with("#!") && has("python")))
    return StrCat("Python, not HLO; run it with XLA_FLAGS=--xla_dump_to=DIR, then shoal stats DIR");
  return {};
}

}  // namespace

ModuleFile ReadModuleFile(const std::string& path, const ParseOptions& options) {
  const GraphPath split = SplitGraphPath(path);
  Result<std::unique_ptr<Source>> source = Source::Read(split.file);
  if (source.ok() && LooksLikeGraphDump((*source)->text())) source = SelectGraph(**source, split.graph);
  if (source.ok()) {
    ModuleFile file = ReadModuleSource(std::move(*source), options);
    file.path = path;
    return file;
  }
  ModuleFile file;
  file.path = path;
  file.diags.Add(std::move(source.diag()));
  return file;
}

ModuleFile ReadModuleSource(std::unique_ptr<Source> source, const ParseOptions& options) {
  ModuleFile file;
  file.path = source->name();
  file.source = std::move(source);
  const std::string_view bytes = file.source->text();
  if (bytes.empty()) {
    file.diags.Add(Fail("the file is empty"));
  } else if (LooksLikeStablehlo(bytes)) {
    file.module = ReadStablehlo(file.source, options.strict, file.diags);
  } else if (LooksLikeProto(bytes)) {
    ProtoInput read = ReadProtoWithValues(file.source, options.strict, file.diags);
    file.module = std::move(read.module);
    file.arguments = std::move(read.arguments);
    file.result = read.result;
  } else if (LooksBinary(bytes)) {
    file.diags.Add(Fail("the file is neither HLO text nor an HLO protobuf"));
  } else {
    file.module = ParseModule(file.source, options, file.diags);
    if (const std::string language = file.module == nullptr ? OtherLanguage(bytes) : ""; !language.empty()) {
      file.diags = {};
      file.diags.Add(Fail(StrCat("the file is ", language)));
    }
  }
  return file;
}

Result<std::string> FormatModule(const Module& module, const FormatOptions& options) {
  if (options.format == ModuleFormat::kProto) return WriteProto(module);
  if (options.format == ModuleFormat::kProtoJson) return WriteProtoAsJson(module);
  if (options.format == ModuleFormat::kStablehlo) return WriteStablehlo(module, {options.elide_large_constants});
  PrintOptions print = options.format == ModuleFormat::kShort ? PrintOptions::Short() : PrintOptions{};
  print.elide_large_constants = options.elide_large_constants;
  if (options.renumber) return PrintModule(module, print);
  if (options.format == ModuleFormat::kHlo) return PrintModuleLikeSource(module, print);
  print.renumber_frames = print.reorder_computations = !IsCanonicalText(module);
  return PrintModule(module, print);
}

}  // namespace shoal::internal
