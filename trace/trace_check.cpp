#include "trace/fst/file_check.hpp"
#include "trace/fst/fst_file.hpp"
#include "trace/trace_file.hpp"
#include "trace/wave/guard.hpp"

namespace gradweave::runtime {

void check_waveform(const std::string &file) {
  wave::check_fst_file(file);
  // Lengths are written after what they count, and agree with what is there; the hierarchy then tells what is missing.
  wave::run_guarded(file, [&] {
    const wave::FstFile whole(file);
    return 0;
  });
}

} // namespace gradweave::runtime
