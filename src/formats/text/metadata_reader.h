// Reads metadata={…} and frontend_attributes={…}.
#pragma once

#include "formats/text/literal_reader.h"

namespace shoal::internal {

class MetadataReader : public LiteralReader {
 protected:
  using LiteralReader::LiteralReader;

  bool ReadFrontendAttributes(std::span<const FrontendAttribute>* attributes);
  bool ReadMetadata(Metadata* metadata);

 private:
  bool ReadMetadataField(uint32_t field, std::string_view name, TextSpan at, Metadata* metadata, RareMetadata* rare);
};

}  // namespace shoal::internal
