// Parts of shoal that are shared libraries of their own and are opened when first needed: the code generator, oneDNN
// and MPI.
#pragma once

#include <string>
#include <string_view>

namespace shoal::internal {

// The path of the part NAME: in the folder of libshoal.so, or of the program if shoal is linked into it, or in the
// folder for libraries of the same installation. If the part is in neither folder, the path in the first.
std::string PathOfPart(std::string_view name);

// Opens the part `name` with the flags of dlopen: PathOfPart(name), or else from the run path of the program that shoal is
// linked into. Never searches LD_LIBRARY_PATH or the system's folders, where a foreign library of this name could be.
// Returns null and sets `error` if neither can be opened.
void* OpenPart(const std::string& name, int flags, std::string& error);

}  // namespace shoal::internal
