# gw_verilate(): Verilator as an ordinary build step. Verilog -> C++ -> static library, at build time, with the flags
# that keep the loop-preserving RTL vectorised.
include_guard(GLOBAL)

find_program(GW_VERILATOR verilator REQUIRED)
if(NOT GW_VERILATOR_ROOT)
  execute_process(COMMAND ${GW_VERILATOR} --getenv VERILATOR_ROOT
    OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(GW_VERILATOR_ROOT "${root}" CACHE PATH "Verilator's data directory (holds include/verilated.cpp)")
endif()

# A lost vectorisation costs a factor of 6 to 8, so the machine's own vector width is asked for. clang needs to be told
# that 512-bit registers are welcome; where there are none the option does nothing.
include(CheckCXXCompilerFlag)
set(GW_NATIVE_FLAGS "")
foreach(flag -march=native -mprefer-vector-width=512)
  string(MAKE_C_IDENTIFIER "GW_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has} AND NOT GW_PORTABLE)
    list(APPEND GW_NATIVE_FLAGS ${flag})
  endif()
endforeach()
set(GW_VERILATED_UNIT ${CMAKE_CURRENT_LIST_DIR}/VerilatedUnit.cmake CACHE INTERNAL "Script that joins Verilator's output")
set(GW_MODEL_FLAGS -O3 ${GW_NATIVE_FLAGS} CACHE STRING "Compiler flags of Verilated models")

set(GW_VERILATOR_FLAGS "" CACHE STRING "Further flags of Verilator, for all models")

# Macros that Verilator's own makefile would define; model, runtime and users of the model's header must agree.
set(GW_VERILATED_DEFINES VERILATOR=1 VM_COVERAGE=0 VM_SC=0 VM_TRACE=1 VM_TRACE_FST=1 VM_TRACE_VCD=0 VL_TIME_CONTEXT)

if(GW_COVERAGE)
  list(TRANSFORM GW_VERILATED_DEFINES REPLACE "VM_COVERAGE=0" "VM_COVERAGE=1")
endif()

find_package(ZLIB REQUIRED) # the FST writer compresses with it

# The Verilated runtime, once for all models.
add_library(gw_verilated STATIC
  ${GW_VERILATOR_ROOT}/include/verilated.cpp
  ${GW_VERILATOR_ROOT}/include/verilated_threads.cpp
  ${GW_VERILATOR_ROOT}/include/verilated_fst_c.cpp
  $<$<BOOL:${GW_COVERAGE}>:${GW_VERILATOR_ROOT}/include/verilated_cov.cpp>)
target_include_directories(gw_verilated SYSTEM PUBLIC
  ${GW_VERILATOR_ROOT}/include ${GW_VERILATOR_ROOT}/include/vltstd)
target_compile_definitions(gw_verilated PUBLIC ${GW_VERILATED_DEFINES})
gw_file_by_file(gw_verilated)
target_compile_options(gw_verilated PRIVATE -w) # Verilator's code, not ours to warn about
target_link_libraries(gw_verilated PUBLIC Threads::Threads ${ZLIB_LIBRARIES})

# gw_verilate(TARGET <library> TOP <module> PREFIX <class>
#             SOURCES <file>... [DEPENDS <file or target>...] [PARAMS <K=V>...] [PARAMS_FILE <file of -GK=V>]
#             [VLT <file>] [TRACE] [COVERAGE] [FLAGS <verilator flag>...])
#
# Makes the static library <library>: link it to get the model, its header <class>.h and the Verilated runtime.
# SOURCES are in compilation order, packages first. PARAMS_FILE lets parameters come from a tool that the build runs.
# Other things whose change must rerun Verilator (included files) go into DEPENDS. TRACE makes the model able to write
# FST waveforms; VLT is a Verilator configuration file that leaves modules out of them. COVERAGE counts lines and toggles
# (docs/coverage.md): counters end all vectorisation and multiply the code, so such a model is compiled in parts and with
# little optimisation.
function(gw_verilate)
  cmake_parse_arguments(V "TRACE;COVERAGE" "TARGET;TOP;PREFIX;PARAMS_FILE;VLT" "SOURCES;DEPENDS;PARAMS;FLAGS" ${ARGN})
  foreach(required TARGET TOP PREFIX SOURCES)
    if(NOT V_${required})
      message(FATAL_ERROR "gw_verilate: ${required} is missing")
    endif()
  endforeach()

  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${V_TARGET}.dir)
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/${V_TARGET}.cpp)
  file(MAKE_DIRECTORY ${dir})

  set(sources "")
  foreach(source ${V_VLT} ${V_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  # Places in the hierarchy, in waveforms and coverage too, begin with what the top is called, without the prefix of modules.
  string(REGEX REPLACE "^gw_" "" scope ${V_TOP})
  set(flags --cc -O3 --x-assign fast --x-initial fast --assert --unroll-count 1 -Wno-fatal
    --top-module ${V_TOP} --l2-name ${scope} --prefix ${V_PREFIX} --Mdir ${dir} ${V_FLAGS} ${GW_VERILATOR_FLAGS})
  set(units ${unit})
  set(parts 0)
  if(V_COVERAGE)
    # Split blocks would count a branch behind the assignments that it guards, by a condition these may have changed.
    list(APPEND flags --coverage-line --coverage-toggle --coverage-max-width 64 -fno-split)
    set(parts 4)
    set(units "")
    foreach(part RANGE 1 ${parts})
      list(APPEND units ${CMAKE_CURRENT_BINARY_DIR}/${V_TARGET}.${part}.cpp
        ${CMAKE_CURRENT_BINARY_DIR}/${V_TARGET}.${part}.slow.cpp)
    endforeach()
  endif()
  if(V_TRACE)
    list(APPEND flags --trace-fst --no-trace-params)
  endif()
  foreach(param ${V_PARAMS})
    list(APPEND flags -G${param})
  endforeach()
  if(V_PARAMS_FILE)
    list(APPEND flags -f ${V_PARAMS_FILE})
  endif()

  # Verilator's own makefile stays unused: it compiles with -Os unless told otherwise and refuses paths with spaces.
  # One translation unit lets the compiler see the whole model; which files it has is known only after the run.
  add_custom_command(
    OUTPUT ${units}
    BYPRODUCTS ${dir}/${V_PREFIX}.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${dir}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${dir}
    COMMAND ${GW_VERILATOR} ${flags} ${sources}
    COMMAND ${CMAKE_COMMAND} -DDIR=${dir} -DUNIT=${unit} -DPARTS=${parts} -P ${GW_VERILATED_UNIT}
    DEPENDS ${sources} ${V_DEPENDS} ${V_PARAMS_FILE} ${GW_VERILATED_UNIT}
    COMMENT "Verilating ${V_TOP} for ${V_TARGET} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION})"
    VERBATIM)

  add_library(${V_TARGET} STATIC ${units})
  gw_file_by_file(${V_TARGET})
  target_include_directories(${V_TARGET} SYSTEM PUBLIC ${dir})
  set(optimise ${GW_MODEL_FLAGS})
  if(V_COVERAGE)
    set(optimise -O1)
    set(slow ${units})
    list(FILTER slow INCLUDE REGEX "\\.slow\\.cpp$") # run once, but most of the code
    set_source_files_properties(${slow} PROPERTIES COMPILE_OPTIONS -O0)
  endif()
  target_compile_options(${V_TARGET} PRIVATE ${optimise} -ffp-contract=off -w)
  target_link_libraries(${V_TARGET} PUBLIC gw_verilated)
endfunction()
