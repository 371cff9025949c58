#include "tests/mutation_score/mutant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace gradweave::mutation {

namespace {

const std::string kPrefix = "gw_";

std::string collapsed(const std::string &text) {
  std::string result;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::string line_at(const std::string &text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::string line = text.substr(begin, text.find('\n', at) - begin);
  return collapsed(line.substr(0, line.find("//")));
}

/// What a mutant is known by. Of a module that is neither its room nor the prefix of names, so that a module may move
/// without another sample being drawn and explanations losing what they explain.
std::string identity(const Mutant &m) {
  const auto text = [&m](const std::string &file) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", file, m.scope, m.kind, m.original, m.mutated, m.context);
  };
  if (language_of(m.file) != Language::kSystemVerilog) return text(m.file);
  std::string result = text("rtl/" + m.file.substr(m.file.rfind('/') + 1));
  for (std::size_t at = 0; (at = result.find(kPrefix, at)) != std::string::npos;)
    result.erase(at, kPrefix.size());
  return result;
}

} // namespace

std::uint64_t hash_of(const std::string &text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

Language language_of(const std::string &file) {
  return file.size() > 3 && file.compare(file.size() - 3, 3, ".sv") == 0 ? Language::kSystemVerilog : Language::kCpp;
}

Source make_source(const std::string &file, const std::string &text, std::vector<Place> places) {
  std::sort(places.begin(), places.end(),
            [](const Place &a, const Place &b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  Source source{file, text, std::move(places), {}};
  std::map<std::string, unsigned> seen; // equal faults in equal lines are told apart by their order
  for (const Place &place : source.places) {
    std::vector<Mutant> &mutants = source.mutants.emplace_back();
    for (const Fault &fault : place.faults) {
      Mutant m;
      m.file = file;
      m.line = 1 + static_cast<unsigned>(
                       std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place.begin), '\n'));
      m.scope = place.scope;
      m.kind = fault.kind;
      m.original = collapsed(text.substr(place.begin, place.end - place.begin));
      m.mutated = fault.text.empty() ? "(left out)" : collapsed(fault.text);
      m.context = line_at(text, place.begin);
      const std::string key = identity(m);
      m.id = fmt::format("{}-{:08x}", language_of(file) == Language::kSystemVerilog ? "rtl" : "cpp",
                         static_cast<std::uint32_t>(hash_of(fmt::format("{}\n{}", key, seen[key]++)) >> 32U));
      mutants.push_back(std::move(m));
    }
  }
  return source;
}

void choose_mutants(std::vector<Source> &sources, std::size_t count, std::uint64_t seed, unsigned first) {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<std::uint64_t, Mutant *>>> strata;
  std::size_t all = 0;
  for (Source &source : sources)
    for (std::vector<Mutant> &mutants : source.mutants)
      for (Mutant &m : mutants) {
        strata[{m.file, m.kind}].emplace_back(hash_of(fmt::format("{}\n{}", seed, m.id)), &m);
        ++all;
      }
  unsigned number = first;
  for (auto &[name, stratum] : strata) {
    std::sort(stratum.begin(), stratum.end());
    const std::size_t share = std::max<std::size_t>(1, (stratum.size() * count + all / 2) / all);
    for (std::size_t i = 0; i < std::min(share, stratum.size()); ++i)
      stratum[i].second->number = number++;
  }
}

} // namespace gradweave::mutation
