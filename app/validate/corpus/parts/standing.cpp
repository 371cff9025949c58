#include "app/validate/corpus/parts/standing.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace gradweave::corpus {

namespace {

StandingCorpus quick_corpus() {
  return {{{"bert_tiny", "small", "rearrange", "backward", "0,3,4,24"}},
          {{"test8", 10'000, 200},
           {"test6x10", 20'000, 200},
           {"test13x7", 30'000, 200},
           {"test16", 40'000, 200},
           {"test5x2", 50'000, 200},
           {"test4x8", 60'000, 200},
           {"test8x3", 70'000, 200},
           {"test2x2", 80'000, 200},
           {"small", 90'000, 100},
           {"test8c2", 100'000, 100},
           {"test8c4", 101'000, 100},
           {"test8c8", 102'000, 100},
           {"test6x10c3", 103'000, 200},
           {"test2x64c8", 104'000, 20},
           {"test8p2", 105'000, 200},
           {"test8v2", 106'000, 200},
           {"test6x10v1", 107'000, 200},
           {"test8c2v8", 108'000, 100},
           {"test512x16", 109'000, 4}}};
}

StandingCorpus full_corpus() {
  return {{{"bert_tiny", "small", "all", "backward", ""}, {"bert_tiny", "small", "sequential", "forward", ""}},
          {{"test8", 110'000, 1'400},     {"test6x10", 120'000, 1'400},   {"test13x7", 130'000, 1'400},
           {"test16", 140'000, 1'400},    {"test5x2", 150'000, 1'400},    {"test4x8", 160'000, 1'400},
           {"test8x3", 170'000, 1'400},   {"test2x2", 180'000, 1'400},    {"small", 190'000, 600},
           {"large", 200'000, 60},        {"test8c2", 210'000, 1'400},    {"test8c4", 220'000, 1'400},
           {"test8c8", 230'000, 1'400},   {"test6x10c3", 240'000, 1'400}, {"test2x64c8", 250'000, 200},
           {"test8p2", 260'000, 1'400},   {"test8v2", 270'000, 4'400},    {"test6x10v1", 280'000, 4'400},
           {"test8c2v8", 290'000, 4'400}, {"test512x16", 300'000, 40}}};
}

constexpr std::array<std::pair<std::string_view, StandingCorpus (*)()>, 2> kCorpora{
    {{"quick", quick_corpus}, {"full", full_corpus}}};

} // namespace

StandingCorpus standing_corpus(std::string_view name) {
  for (const auto &[known, make] : kCorpora)
    if (name == known) return make();
  throw std::invalid_argument(fmt::format("unknown corpus '{}'; use one of: {}", name, corpus_names()));
}

std::string corpus_names() {
  std::string names;
  for (const auto &[name, make] : kCorpora)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

} // namespace gradweave::corpus
