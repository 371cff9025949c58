// Mutants: faults that have a name and a number.
#pragma once

#include "tests/mutation_score/place.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::mutation {

/// A fault of one file, one of all that there could be.
struct Mutant {
  std::string id;      ///< from all of the below but the line: the same as long as the text around it is the same
  unsigned number = 0; ///< what selects it at run time; 0: it is not built in
  std::string file;    ///< relative to the root of the tree
  unsigned line = 0;   ///< where its place begins
  std::string scope, kind;
  std::string original, mutated; ///< text of the place, blanks collapsed
  std::string context;           ///< the line, without its comment
};

/// The language of a file, by its name.
enum class Language { kSystemVerilog, kCpp };
Language language_of(const std::string &file);

/// A source file with all its faults: mutants[i][k] is places[i].faults[k].
struct Source {
  std::string file, text;
  std::vector<Place> places;
  std::vector<std::vector<Mutant>> mutants;
};

/// Names the mutants of a file. `places` are of `text`.
Source make_source(const std::string &file, const std::string &text, std::vector<Place> places);

/// 64-bit FNV-1a, the same on every machine.
std::uint64_t hash_of(const std::string &text);

/// Gives about `count` mutants of `sources` a number from `first` on. The sample is stratified by file and kind: of
/// each stratum the same share is taken, at least one, those with the lowest hash of seed and id. An edit of the
/// sources therefore changes little of the sample.
void choose_mutants(std::vector<Source> &sources, std::size_t count, std::uint64_t seed, unsigned first);

/// The text of a file with its numbered mutants in it, each selected at run time by its number. It refers to
/// gw_mutant::number in SystemVerilog, to gradweave_mutant() in C++, which the file does not declare.
std::string with_mutants(const Source &source);

} // namespace gradweave::mutation
