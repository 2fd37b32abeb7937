// Parts of shoal that are shared libraries of their own and are opened when first needed: the code generator, oneDNN
// and MPI.
#pragma once

#include <string>
#include <string_view>

namespace shoal::internal {

// The path of the part NAME: in the folder of libshoal.so, or of the program if shoal is linked into it, or in the
// folder for libraries of the same installation. If the part is in neither folder, the path in the first.
std::string PathOfPart(std::string_view name);

}  // namespace shoal::internal
