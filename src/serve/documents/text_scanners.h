// The two languages of TextIndex. Text that does not fit the grammar is skipped up to the next instruction or computation.
#pragma once

#include "serve/documents/text_index.h"

namespace shoal::internal {

void ScanHlo(std::string_view text, IndexedText& index);
void ScanStablehlo(std::string_view text, IndexedText& index);

}  // namespace shoal::internal
