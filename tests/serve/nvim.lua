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
vim.cmd("qall!")
