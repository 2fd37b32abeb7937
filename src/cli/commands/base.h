// The helpers of core/base that the commands use.
#pragma once

#include "core/base/numbers.h"
#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/suggest.h"
#include "core/base/text_width.h"
#include "core/base/units.h"

namespace shoal::cli {

using internal::DidYouMean;
using internal::EscapeForTerminal;
using internal::EscapeName;
using internal::FormatBytes;
using internal::ParseBytes;
using internal::ParseInteger;
using internal::ParseNumber;
using internal::ParseUnsigned;
using internal::Pluralize;
using internal::StrAppend;
using internal::StrCat;
using internal::StrJoin;
using internal::Wrapped;

}  // namespace shoal::cli
