-- require("shoal").setup({ machine = "h100x8" }) starts the language server for HLO files;
-- with filetypes = { "hlo", "mlir" }, also for StableHLO text.
local M = {}

local clients = {}

-- Neovim 0.7 has no vim.lsp.start.
local function start(config, buffer)
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  clients[config.root_dir] = clients[config.root_dir] or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, clients[config.root_dir])
end

function M.setup(settings)
  settings = settings or {}
  vim.api.nvim_create_autocmd("FileType", {
    pattern = settings.filetypes or { "hlo" },
    callback = function(event)
      start({
        name = "shoal",
        cmd = { settings.command or "shoal", "lsp" },
        root_dir = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(event.buf), ":p:h"),
        init_options = next(settings) and settings or vim.empty_dict(),
      }, event.buf)
    end,
  })
end

return M
