# cmake -DFILES=a;b -DHEADER=h -DCONSTANT=k -P: writes a header with a hash of the files' contents.
set(hashes "")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 version "${hashes}")
string(SUBSTRING ${version} 0 16 version)
file(WRITE ${HEADER}.new "#pragma once\nnamespace gradweave::evaluation {\n"
  "inline constexpr const char *${CONSTANT} = \"${version}\";\n}\n")
file(COPY_FILE ${HEADER}.new ${HEADER} ONLY_IF_DIFFERENT)
file(REMOVE ${HEADER}.new)
