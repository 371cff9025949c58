# cmake -DDIR=<Verilator's output> -DUNIT=<file> -P VerilatedUnit.cmake
# Writes the one C++ file that includes all that Verilator generated.
file(GLOB files ${DIR}/*.cpp)
if(NOT files)
  message(FATAL_ERROR "Verilator left no C++ files in ${DIR}")
endif()
set(text "#define VL_INCLUDE_OPT include\n")
foreach(file ${files})
  string(APPEND text "#include \"${file}\"\n")
endforeach()
file(WRITE ${UNIT} "${text}")
