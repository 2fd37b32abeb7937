// Any bytes as a protobuf: reading, verifying and printing must neither crash nor hang.
#include <cstdint>
#include <string>

#include "core/verify/verify.h"
#include "formats/proto/detect.h"
#include "formats/proto/read.h"
#include "formats/text/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::unique_ptr<shoal::Source> source =
      shoal::Source::FromString("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  shoal::LooksLikeProto(source->text());
  shoal::Diags diags;
  std::unique_ptr<shoal::Module> module = shoal::ReadProto(source, /*strict=*/false, diags);
  if (module == nullptr) return 0;
  shoal::Verify(*module, diags);
  shoal::PrintModule(*module);
  return 0;
}
