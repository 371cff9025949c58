# cmake -DDIR=<Verilator's output> -DUNIT=<file> -DPARTS=<n> -P VerilatedUnit.cmake
# Writes the one C++ file that includes all that Verilator generated. What runs once comes last and is not optimised, nor is what
# looks for changes to be traced, next to which writing the trace takes far longer: these would take most of the time to compile.
# With PARTS > 0 it writes UNIT's stem with .1.cpp and .1.slow.cpp to .<n>.slow.cpp instead: shares of the one and of the other.
file(GLOB files ${DIR}/*.cpp)
if(NOT files)
  message(FATAL_ERROR "Verilator left no C++ files in ${DIR}")
endif()

set(seldom "(Slow|__Syms|__Trace__[0-9]+)[^/]*$")
set(slow ${files})
list(FILTER slow INCLUDE REGEX "${seldom}")
set(fast ${files})
list(FILTER fast EXCLUDE REGEX "${seldom}")

# gw_includes(<variable> <file>...): the text that includes them
function(gw_includes variable)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN ARGN "" text)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

set(head "#define VL_INCLUDE_OPT include\n")
if(NOT PARTS)
  gw_includes(every_cycle ${fast})
  gw_includes(once ${slow})
  file(WRITE ${UNIT} "${head}${every_cycle}#ifdef __clang__\n#pragma clang optimize off\n#endif\n${once}")
  return()
endif()

string(REGEX REPLACE "\\.cpp$" "" stem ${UNIT})
set(suffix_fast .cpp)
set(suffix_slow .slow.cpp)
foreach(kind fast slow)
  foreach(part RANGE 1 ${PARTS})
    set(share_${part} "")
  endforeach()
  set(place 0)
  foreach(file ${${kind}})
    math(EXPR part "${place} % ${PARTS} + 1")
    math(EXPR place "${place} + 1")
    list(APPEND share_${part} ${file})
  endforeach()
  foreach(part RANGE 1 ${PARTS})
    gw_includes(text ${share_${part}})
    file(WRITE ${stem}.${part}${suffix_${kind}} "${head}${text}")
  endforeach()
endforeach()
