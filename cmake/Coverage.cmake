# Source coverage of the project's C++ by clang; that of the RTL is Verilator's (gw_verilate(COVERAGE)).
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "GW_COVERAGE needs clang, not ${CMAKE_CXX_COMPILER_ID}; set CXX=clang++-19 and use another build directory")
endif()
target_compile_options(gw_options INTERFACE -fprofile-instr-generate -fcoverage-mapping)
add_link_options(-fprofile-instr-generate)

# Processes that fork end their children by _exit(), which would lose what these ran.
add_library(gw_coverage_exit STATIC ${PROJECT_SOURCE_DIR}/tests/coverage/exit_hook.cpp)
target_link_libraries(gw_options INTERFACE gw_coverage_exit)
add_link_options(-Wl,--wrap=_exit)
