// Reads any bytes as a protobuf. Parsing, verifying and printing must neither crash nor hang.
#include <cstdint>
#include <string>

#include "core/verify/verify.h"
#include "formats/proto/detect.h"
#include "formats/proto/read.h"
#include "formats/text/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::unique_ptr<shoal::internal::Source> source =
      shoal::internal::Source::FromString("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  shoal::internal::LooksLikeProto(source->text());
  shoal::internal::Diags diags;
  std::unique_ptr<shoal::internal::Module> module = shoal::internal::ReadProto(source, /*strict=*/false, diags);
  if (module == nullptr) return 0;
  shoal::internal::Verify(*module, diags);
  shoal::internal::PrintModule(*module);
  return 0;
}
