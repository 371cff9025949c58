# cmake -DSCRIPT=page.js -DSTYLE=page.css -DHEADER=h -P embed.cmake: both as texts of a header.
file(READ ${SCRIPT} script)
file(READ ${STYLE} style)
file(WRITE ${HEADER} "#pragma once\nnamespace gradweave::sweep {\n"
  "inline constexpr const char *kPageScript = R\"~~(${script})~~\";\n"
  "inline constexpr const char *kPageStyle = R\"~~(${style})~~\";\n}\n")
