# What the page's Content-Security-Policy calls its script and its style.
file(SHA256 ${DIR}/page.js script)
file(SHA256 ${DIR}/page.css style)
file(WRITE ${DIR}/page_hashes.h
  "inline constexpr char kPageScriptSha256[] = \"${script}\";\ninline constexpr char kPageStyleSha256[] = \"${style}\";\n")
