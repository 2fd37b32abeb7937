-- Run by tests/serve/run.py in Neovim: opens a module with the language server of shoal and prints the answers.
local root, binary, file = vim.env.SHOAL_ROOT, vim.env.SHOAL_BIN, vim.env.SHOAL_FILE
vim.opt.runtimepath:prepend(root .. "/editors/vim")
vim.opt.runtimepath:prepend(root .. "/editors/nvim")
vim.cmd("filetype plugin on")
vim.cmd("runtime! ftdetect/*.vim")
require("shoal").setup({ command = binary, machine = "h100x8" })
vim.cmd("edit " .. file)
print("filetype " .. vim.bo.filetype)

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000)
  for _, answer in pairs(answers or {}) do
    if answer.result then return answer.result end
  end
end

vim.wait(20000, function() return #vim.lsp.buf_get_clients(0) > 0 end)
local text = { textDocument = { uri = vim.uri_from_bufnr(0) } }
local symbols = ask("textDocument/documentSymbol", text)
print("symbols " .. #symbols)
local line = vim.fn.search("while(", "w")
local column = vim.fn.col(".")
local where = { textDocument = text.textDocument, position = { line = line - 1, character = column - 1 } }
local hover = ask("textDocument/hover", where)
print("hover " .. (hover and hover.contents.value:match("trip count: %d+") or "none"))

-- Every feature on every file: the number of files for which each one answers.
local answered = {}
for other in vim.env.SHOAL_FILES:gmatch("[^\n]+") do
  vim.cmd("edit " .. vim.fn.fnameescape(other))
  vim.bo.filetype = "hlo"
  vim.wait(20000, function() return #vim.lsp.buf_get_clients(0) > 0 end)
  local document = { uri = vim.uri_from_bufnr(0) }
  vim.fn.cursor(math.floor(vim.fn.line("$") / 2), 1)
  local row = vim.fn.search("^ *\\(ROOT \\)\\?%\\?[A-Za-z0-9_.:-]\\+ = .*(", "w")
  local at = { line = row - 1, character = math.max(vim.fn.match(vim.fn.getline(row), " = ") - 1, 0) }
  local range = { start = { line = row - 1, character = 0 }, ["end"] = { line = row + 20, character = 0 } }
  for _, method in ipairs({ "hover", "definition", "declaration", "implementation", "references", "documentHighlight",
    "completion", "signatureHelp", "prepareRename", "prepareCallHierarchy", "documentLink", "documentSymbol", "foldingRange",
    "codeLens", "inlayHint", "codeAction", "semanticTokens/full", "semanticTokens/range", "formatting" }) do
    local found = ask("textDocument/" .. method, { textDocument = document, position = at, range = range,
      context = { includeDeclaration = true, diagnostics = {} }, options = { tabSize = 2, insertSpaces = true } })
    answered[method] = (answered[method] or 0) + (found and 1 or 0)
  end
end
for method, count in pairs(answered) do print("answered " .. method .. " " .. count) end
vim.cmd("qall!")
