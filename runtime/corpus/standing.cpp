#include "runtime/corpus/standing.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::corpus {

StandingCorpus standing_corpus(std::string_view name) {
  if (name == "quick")
    return {{{"bert_tiny", "small", "rearrange", "backward", "0-2"}},
            {{"test8", 10'000, 80},
             {"test6x10", 20'000, 80},
             {"test13x7", 30'000, 80},
             {"test16", 40'000, 60},
             {"test5x2", 50'000, 80},
             {"test4x8", 60'000, 80},
             {"test8x3", 70'000, 80},
             {"test2x2", 80'000, 80},
             {"small", 90'000, 20}}};
  if (name == "full")
    return {{{"bert_tiny", "small", "all", "backward", ""}, {"bert_tiny", "small", "sequential", "forward", ""}},
            {{"test8", 110'000, 1'400},
             {"test6x10", 120'000, 1'400},
             {"test13x7", 130'000, 1'400},
             {"test16", 140'000, 1'400},
             {"test5x2", 150'000, 1'400},
             {"test4x8", 160'000, 1'400},
             {"test8x3", 170'000, 1'400},
             {"test2x2", 180'000, 1'400},
             {"small", 190'000, 600},
             {"large", 200'000, 60}}};
  throw std::invalid_argument(fmt::format("unknown corpus '{}'; use one of: quick, full", name));
}

} // namespace gradweave::corpus
