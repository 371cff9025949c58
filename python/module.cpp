// The module gradweave._core: the libraries behind the gradweave command. What users see is
// python/gradweave/__init__.py.
#include "python/bind.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace gradweave::python;
  bind_errors();
  bind_files(module);
  bind_graphs(module);
  bind_runs(module);
  bind_train(module);
  bind_search(module);
}
