# cmake -DFILES="FILE=kConstant;..." -DHEADER=h -DNAMESPACE=n -P embed.cmake: the files as texts of a header.
set(text "#pragma once\nnamespace ${NAMESPACE} {\n")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^(.*)=([^=]*)$" both "${entry}")
  set(constant ${CMAKE_MATCH_2})
  file(READ ${CMAKE_MATCH_1} content)
  string(APPEND text "inline constexpr const char *${constant} = R\"~~(${content})~~\";\n")
endforeach()
file(WRITE ${HEADER} "${text}}\n")
