// What became of the mutants: counts, the report, its JSON.
#pragma once

#include "tests/mutation_score/catalog.hpp"
#include "tests/mutation_score/explained.hpp"
#include "tests/mutation_score/trial.hpp"

#include <map>
#include <string>
#include <vector>

namespace gradweave::mutation {

struct Tally {
  std::size_t killed = 0, timeout = 0; ///< by a failed test; by one that took too long
  std::size_t explained = 0;           ///< survivors that are known to change nothing
  std::size_t unexplained = 0;
  std::size_t total() const { return killed + timeout + explained + unexplained; }
  /// Killed or timed out, of all; a fraction.
  double raw() const;
  /// Of those that are not explained.
  double score() const;
};

struct Judged {
  Mutant mutant;
  Verdict verdict;
};

class Score {
public:
  Score(std::vector<Judged> judged, const std::map<std::string, Explanation> &explained);

  Tally all(const std::string &language) const; ///< "rtl" or "cpp"
  std::size_t unexplained() const;
  /// Explanations of mutants that were killed: "id: ...".
  std::vector<std::string> disproved() const;

  /// Tables by language and kind, and by file; all survivors.
  std::string text() const;
  std::string json(const Catalog &catalog) const;

private:
  bool is_explained(const Judged &j) const { return explained_.count(j.mutant.id) != 0; }
  template <class Key> std::map<std::string, Tally> tallies(Key key) const;
  void add(Tally &tally, const Judged &j) const;
  std::string survivors() const;

  std::vector<Judged> judged_;
  const std::map<std::string, Explanation> &explained_;
};

/// The mutant as a reader wants to see it: place, fault, and the line.
std::string describe(const Mutant &mutant);

} // namespace gradweave::mutation
