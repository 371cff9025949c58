#include "tests/mutation_score/mutant.hpp"

#include <fmt/format.h>

namespace gradweave::mutation {

namespace {

/// One expression that says whether a mutant is on.
std::string is_on(Language language, unsigned number) {
  return language == Language::kSystemVerilog ? fmt::format("(gw_mutant::number == {})", number)
                                              : fmt::format("::gradweave_mutant({})", number);
}

/// A choice keeps the width, sign and type that the expression gets from what is around it.
std::string choice(Language language, unsigned number, const std::string &mutated, const std::string &original) {
  return fmt::format("({} ? ({}) : ({}))", is_on(language, number), mutated, original);
}

/// A statement, in C++ without its semicolon, that is skipped if the mutant is on.
std::string without(Language language, unsigned number, const std::string &statement) {
  return language == Language::kSystemVerilog
             ? fmt::format("begin if (!{}) {} end", is_on(language, number), statement)
             : fmt::format("({} ? static_cast<void>(0) : static_cast<void>({}))", is_on(language, number), statement);
}

class Rewriter {
public:
  explicit Rewriter(const Source &source) : source_(source), language_(language_of(source.file)) {}

  std::string run() { return text(0, source_.text.size()); }

private:
  /// The characters [begin, end), with the places that begin in them.
  std::string text(std::size_t begin, std::size_t end) {
    std::string result;
    while (next_ < source_.places.size() && source_.places[next_].begin < end) {
      const std::size_t index = next_++;
      const Place &place = source_.places[index];
      result += source_.text.substr(begin, place.begin - begin) + of_place(index);
      begin = place.end;
    }
    return result + source_.text.substr(begin, end - begin);
  }

  /// Only one mutant is on at a time, so what stands in the others' place needs none of those inside it.
  std::string of_place(std::size_t index) {
    const Place &place = source_.places[index];
    std::string result = text(place.begin, place.end);
    // What is left out last: only its choice has no value.
    for (const bool left_out : {false, true})
      for (std::size_t k = 0; k < place.faults.size(); ++k)
        if (const unsigned number = source_.mutants[index][k].number;
            number != 0 && place.faults[k].text.empty() == left_out)
          result =
              left_out ? without(language_, number, result) : choice(language_, number, place.faults[k].text, result);
    return result;
  }

  const Source &source_;
  Language language_;
  std::size_t next_ = 0;
};

} // namespace

std::string with_mutants(const Source &source) { return Rewriter(source).run(); }

} // namespace gradweave::mutation
