#include "serve/mcp/documents_resource.h"

namespace shoal::internal {
namespace {

constexpr DocumentPage kPages[] = {
#include "serve/mcp/embedded_documents.inc"
};

}  // namespace

std::span<const DocumentPage> DocumentPages() { return kPages; }

}  // namespace shoal::internal
