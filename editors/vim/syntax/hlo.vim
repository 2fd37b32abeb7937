if exists('b:current_syntax')
  finish
endif
syntax iskeyword @,48-57,_,.,-
syntax keyword hloKeyword HloModule ENTRY ROOT FileNames FunctionNames FileLocations StackFrames
syntax keyword hloConstant true false inf nan replicated manual maximal
syntax match hloType "\<\%(pred\|token\|opaque\|[suf]\d\+\|bf16\|tf32\|c64\|c128\|f8e[0-9a-z]\+\|f4e[0-9a-z]\+\)\ze\["
syntax match hloNumber "\<-\=\d\+\%(\.\d\+\)\=\%(e[-+]\=\d\+\)\=\>"
syntax match hloName "%[A-Za-z_][A-Za-z0-9_.-]*"
syntax match hloOpcode "\%([\])}]\s\+\)\@<=[a-z][a-z0-9-]*\ze("
syntax match hloAttribute "\<[A-Za-z_][A-Za-z0-9_-]*\ze="
syntax region hloString start=+"+ skip=+\\.+ end=+"+
syntax region hloComment start="/\*" end="\*/"
syntax match hloComment "//.*$"
highlight default link hloKeyword Keyword
highlight default link hloConstant Constant
highlight default link hloType Type
highlight default link hloNumber Number
highlight default link hloName Identifier
highlight default link hloOpcode Function
highlight default link hloAttribute PreProc
highlight default link hloString String
highlight default link hloComment Comment
let b:current_syntax = 'hlo'
