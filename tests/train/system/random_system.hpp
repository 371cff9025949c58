// System files at random, bad ones too.
#pragma once

#include <cstdint>
#include <string>

namespace gradweave::runtime::train {

struct RandomSystem {
  std::string text;        ///< of a file in configs/systems
  std::uint32_t batch = 1; ///< for the network
};

/// One to four devices of test sizes, links, ports, flash and processors; a cut or routes; micro-batches; tables or
/// none. About one in three has something wrong: a name that is not there, a number out of range, a key that is
/// missing, what does not fit the network or its batch.
RandomSystem random_system(std::uint64_t seed);

} // namespace gradweave::runtime::train
