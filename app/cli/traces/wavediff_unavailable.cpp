// gradweave wavediff in a build without Verilator, with which the library that reads FST files comes.
#include "app/cli/traces/wavediff.hpp"

#include <stdexcept>

namespace gradweave::cli {

int wavediff(const WavediffArguments &) {
  throw std::runtime_error("this gradweave cannot read waveforms: it was built where Verilator, with which the FST "
                           "library comes, was not installed; install verilator and build again (make build)");
}

} // namespace gradweave::cli
