// What happens on Ctrl-C: shoal says where it was, removes what it has not finished writing, and ends. Likewise where
// there is no memory left.
#pragma once

#include <string_view>

namespace shoal {

// Also lets a write to a closed pipe be an error instead of the end: `shoal print x | head` ends quietly.
void HandleSignals();

// What is being done, for the message: "reading big.hlo". A handler of signals may read it at any time.
void NowDoing(std::string_view what);

}  // namespace shoal
