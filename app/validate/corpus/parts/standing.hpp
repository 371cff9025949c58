// The standing corpus of `gradweave validate --corpus`: what has to be equal at all times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::corpus {

/// Random streams of both profiles on an NPU of configs/.
struct StandingStreams {
  std::string npu;
  std::uint64_t seed = 0, count = 0;
};

/// Layers of a network of models/ on an NPU of configs/, in the form of the options of the command line.
struct StandingLayers {
  std::string model, npu, schedule, pass, layers;
};

struct StandingCorpus {
  std::vector<StandingLayers> layers;
  std::vector<StandingStreams> streams;
};

/// `name`: quick (part of `make test`) or full; throws std::invalid_argument for others.
StandingCorpus standing_corpus(std::string_view name);
/// "quick, full": what it accepts.
std::string corpus_names();

} // namespace gradweave::corpus
