// Reads any bytes as HLO text. Parsing, verifying, printing and writing must neither crash nor hang. Printing a
// well-formed module, then parsing and printing the output, must give the same text again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/verify/verify.h"
#include "formats/files/graph_dump.h"
#include "formats/proto/write.h"
#include "formats/text/parser.h"
#include "formats/text/printer.h"

namespace {

std::unique_ptr<shoal::internal::Module> Read(std::string text, bool strict) {
  std::unique_ptr<shoal::internal::Source> source = shoal::internal::Source::FromString("fuzz", std::move(text));
  shoal::internal::Diags diags;
  std::unique_ptr<shoal::internal::Module> module = shoal::internal::ParseModule(source, {strict}, diags);
  if (module == nullptr) shoal::internal::Render(diags, *source);
  return module;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (shoal::internal::LooksLikeGraphDump(text)) {
    std::unique_ptr<shoal::internal::Source> source = shoal::internal::Source::FromString("fuzz", text);
    for (int64_t number = 0; number < 3; ++number) static_cast<void>(shoal::internal::SelectGraph(*source, number).ok());
  }
  const bool well_formed = Read(text, /*strict=*/true) != nullptr;
  std::unique_ptr<shoal::internal::Module> module = Read(text, /*strict=*/false);
  if (module == nullptr) return 0;
  shoal::internal::Diags diags;
  shoal::internal::Verify(*module, diags);
  shoal::internal::Render(diags, *module->source);
  // A text with deviations from the grammar may print with other deviations.
  if (shoal::internal::WriteProto(*module).ok() && well_formed) {
    std::string printed = shoal::internal::PrintModule(*module);
    std::unique_ptr<shoal::internal::Module> again = Read(printed, /*strict=*/false);
    if (again == nullptr || shoal::internal::PrintModule(*again) != printed) std::abort();
  }
  return 0;
}
