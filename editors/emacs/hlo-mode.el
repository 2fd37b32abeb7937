;;; hlo-mode.el --- HLO text: colours and the shoal language server  -*- lexical-binding: t -*-

(defvar hlo-mode-font-lock-keywords
  `((,(regexp-opt '("HloModule" "ENTRY" "ROOT" "FileNames" "FunctionNames" "FileLocations" "StackFrames") 'symbols)
     . font-lock-keyword-face)
    ("\\_<\\(pred\\|token\\|opaque\\|bf16\\|[sufc][0-9]+[a-z0-9]*\\)\\[" 1 font-lock-type-face)
    ("%[A-Za-z_][A-Za-z0-9_.-]*" . font-lock-variable-name-face)
    ("[])}] +\\([a-z][a-z0-9-]*\\)(" 1 font-lock-function-name-face)
    ("\\_<\\([A-Za-z_][A-Za-z0-9_-]*\\)=" 1 font-lock-builtin-face)))

;;;###autoload
(define-derived-mode hlo-mode prog-mode "HLO"
  "Major mode for XLA HLO text."
  (setq-local font-lock-defaults '(hlo-mode-font-lock-keywords))
  (setq-local comment-start "// "))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.hlo\\'" . hlo-mode))
;;;###autoload
(add-to-list 'magic-mode-alist '("HloModule\\>" . hlo-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(hlo-mode . ("shoal" "lsp"))))

(provide 'hlo-mode)
;;; hlo-mode.el ends here
