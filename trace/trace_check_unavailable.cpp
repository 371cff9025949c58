// Without Verilator there is no reader of waveforms, and no NPU that writes one.
#include "trace/trace_file.hpp"

#include <stdexcept>

namespace gradweave::runtime {

void check_waveform(const std::string &file) {
  throw std::runtime_error(file + ": this build has no reader of waveforms; install verilator and build again");
}

} // namespace gradweave::runtime
