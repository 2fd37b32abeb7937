// Reads the HloModule line and the stack frame tables that follow it in newer dumps.
#pragma once

#include "formats/text/attr_reader.h"

namespace shoal::internal {

class HeaderReader : public AttrReader {
 protected:
  using AttrReader::AttrReader;

  bool ReadHeader();
  bool ReadStackFrameTables();
  TextSpan aliases_at_;

 private:
  bool ReadHeaderAttr(std::string_view name, TextSpan at);
  bool ReadAliasing();
  bool ReadBufferDonors();
  bool ReadEntryLayout();
  bool ReadBools(std::vector<bool>* bools);
  bool ReadOriginRecoveryTable();
  bool ReadDebugAttributes();
  bool ReadDebugAttributesOf(DebugAttributes* attributes);
};

}  // namespace shoal::internal
