// The requests of the language server as functions of a View. Each returns the JSON result of the protocol; null if
// there is nothing at the position. The section headings name the .cc files.
#pragma once

#include <vector>

#include "serve/lsp/view.h"

namespace shoal::internal {

// ---- diagnostics.cc
json DiagnosticsOf(const View& view);

// ---- hover.cc
json HoverAt(const View& view, uint32_t offset);

// ---- navigation.cc
json DefinitionAt(const View& view, uint32_t offset);
json ReferencesAt(const View& view, uint32_t offset, bool include_declaration);
// Uses of the name; for a collective, all parts of the logical collective.
json HighlightsAt(const View& view, uint32_t offset);
json CallHierarchyItemsAt(const View& view, uint32_t offset);
json IncomingCalls(const View& view, const json& item);
json OutgoingCalls(const View& view, const json& item);

// ---- source_links.cc: locations in the user's program
// The source line of the instruction at the offset.
json SourceAt(const View& view, uint32_t offset);
json DocumentLinksOf(const View& view);

// ---- dump_stages.cc: the same instruction in the files of other compilation stages of the module
json CounterpartsAt(const View& view, uint32_t offset);

// ---- symbols.cc
json SymbolsOf(const View& view);
json FoldingRangesOf(const View& view);
// Symbols whose names contain `query`, at most `limit`.
json WorkspaceSymbolsOf(const View& view, const std::string& query, size_t limit);

// ---- hints.cc
json InlayHintsOf(const View& view, TextSpan range);
json CodeLensesOf(const View& view);

// ---- semantic_tokens.cc
json SemanticTokensLegend();
// The tokens that begin in `range`, in the relative encoding of the protocol.
std::vector<uint32_t> SemanticTokensOf(const View& view, TextSpan range);

// ---- completion.cc
json CompletionsAt(const View& view, uint32_t offset);
json SignatureHelpAt(const View& view, uint32_t offset);

// ---- rename.cc
json PrepareRename(const View& view, uint32_t offset);
// An error is a sentence in `error`.
json Rename(const View& view, uint32_t offset, const std::string& name, std::string* error);

// ---- code_actions.cc
json FormattingOf(const View& view);
json CodeActionsFor(const View& view, TextSpan range);

}  // namespace shoal::internal
