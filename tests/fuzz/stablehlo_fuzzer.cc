// Reads any bytes as StableHLO: MLIR text, bytecode, or a file of jax.export. Reading, verifying and printing must
// neither crash nor hang, and HLO text and StableHLO text that is printed must be readable.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/verify/verify.h"
#include "formats/stablehlo/read.h"
#include "formats/stablehlo/write.h"
#include "formats/text/parser.h"
#include "formats/text/printer.h"

namespace {

using namespace shoal::internal;

std::unique_ptr<Module> Read(std::string bytes, bool strict, Diags& diags) {
  std::unique_ptr<Source> source = Source::FromString("fuzz", std::move(bytes));
  std::unique_ptr<Module> module = ReadStablehlo(source, strict, diags);
  if (module == nullptr) Render(diags, *source);
  return module;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  LooksLikeStablehlo(bytes);
  Diags strict_diags, diags;
  Read(bytes, /*strict=*/true, strict_diags);
  std::unique_ptr<Module> module = Read(bytes, /*strict=*/false, diags);
  if (module == nullptr) return 0;
  Verify(*module, diags);
  Render(diags, *module->source);
  const std::string printed = PrintModule(*module);
  if (diags.errors() > 0) return 0;
  std::unique_ptr<Source> source = Source::FromString("printed", printed);
  Diags again;
  if (ParseModule(source, {}, again) == nullptr) std::abort();
  const Result<std::string> written = WriteStablehlo(*module);
  if (written.ok() && Read(*written, /*strict=*/false, again) == nullptr) std::abort();
  return 0;
}
