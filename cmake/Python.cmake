# gw_find_python(): GW_PYTHON_PROGRAM, GW_PYTHON_INCLUDES, GW_PYTHON_SUFFIX and GW_PYTHON_VERSION of a Python that the module can be built for: it has
# NumPy, and its headers, which pybind11 reads beside its own, are there. GW_PYTHON_FOUND says whether there is one, GW_PYTHON_PROBLEM why not.
include_guard(GLOBAL)

set(GW_PYTHON_EXECUTABLE "" CACHE FILEPATH "Python that the module is for; empty: Debian's, else the first that has all it takes")

function(gw_find_python)
  find_path(GW_PYBIND11_INCLUDE_DIR pybind11/pybind11.h)
  set(problem "pybind11 is not installed (Debian's pybind11-dev)")
  set(found FALSE)
  if(GW_PYBIND11_INCLUDE_DIR)
    set(problem "no python3 has NumPy and its headers (Debian's python3-numpy and python3-dev)")
    # Debian's own goes first: another one in front of it in PATH has no packages of Debian.
    foreach(candidate ${GW_PYTHON_EXECUTABLE} /usr/bin/python3 python3)
      execute_process(COMMAND ${candidate} -c "import sysconfig, os, numpy
headers = sysconfig.get_path('include')
assert os.path.exists(os.path.join(headers, 'Python.h'))
print(headers, sysconfig.get_config_var('EXT_SUFFIX'), sysconfig.get_python_version(), sep=';', end='')"
        RESULT_VARIABLE failed OUTPUT_VARIABLE answer ERROR_QUIET)
      if(failed STREQUAL "0")
        list(GET answer 0 headers)
        list(GET answer 1 suffix)
        list(GET answer 2 version)
        set(found TRUE)
        set(GW_PYTHON_PROGRAM ${candidate} CACHE INTERNAL "Python that the module is built for")
        set(GW_PYTHON_INCLUDES ${headers} ${GW_PYBIND11_INCLUDE_DIR} PARENT_SCOPE)
        set(GW_PYTHON_SUFFIX ${suffix} PARENT_SCOPE)
        set(GW_PYTHON_VERSION ${version} PARENT_SCOPE)
        break()
      elseif(candidate STREQUAL "${GW_PYTHON_EXECUTABLE}")
        set(problem "GW_PYTHON_EXECUTABLE=${candidate} has no NumPy, or no headers")
        break()
      endif()
    endforeach()
  endif()
  set(GW_PYTHON_FOUND ${found} PARENT_SCOPE)
  set(GW_PYTHON_PROBLEM "${problem}" PARENT_SCOPE)
endfunction()
