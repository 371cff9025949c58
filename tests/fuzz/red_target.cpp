// A target that finds fault with everything: shows that a replay goes red.
#include "tests/fuzz/fuzz_target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *, std::size_t) { gradweave::fuzz::finding("every input"); }
