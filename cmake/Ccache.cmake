# ccache only speeds up repeated builds; nothing depends on it.
find_program(GW_CCACHE ccache)
if(GW_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GW_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${GW_CCACHE})
endif()
