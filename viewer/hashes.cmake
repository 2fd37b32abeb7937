# Hashes of the page's script and style, for its Content-Security-Policy.
file(SHA256 ${DIR}/page.js script)
file(SHA256 ${DIR}/page.css style)
file(WRITE ${DIR}/page_hashes.h
  "inline constexpr char kPageScriptSha256[] = \"${script}\";\ninline constexpr char kPageStyleSha256[] = \"${style}\";\n")
