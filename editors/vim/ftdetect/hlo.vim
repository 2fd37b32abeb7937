" Recognizes HLO text by name and, for other names such as those of XLA dumps, by content.
autocmd BufNewFile,BufRead *.hlo setfiletype hlo
autocmd BufNewFile,BufRead *.mlir setfiletype mlir
autocmd BufNewFile,BufRead *.before_optimizations.txt,*_after_optimizations.txt,module_*.after_*.txt setfiletype hlo
autocmd BufNewFile,BufRead *.txt,* if !did_filetype() && getline(1) =~# '^HloModule\>' | setfiletype hlo | endif
