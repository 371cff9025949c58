// Is this file an FST file, and whole?
#pragma once

#include <string>

namespace gradweave::wave {

/// The FST library trusts what it reads: a file that is cut, still being written or damaged makes it end the process or
/// read beyond its buffers. This looks at the structure first: the header, the chain of blocks up to the last byte, the
/// places of the parts within each block of values, and whether geometry and hierarchy decompress to the length that
/// they state. Throws ConfigError with file, byte and problem. What it cannot see, a flipped bit within
/// compressed values, is left to run_guarded() (trace/wave/guard.hpp).
void check_fst_file(const std::string &file);

} // namespace gradweave::wave
