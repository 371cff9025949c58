// In front of every C++ file with mutants (gw_mutate): which of them is on.
#pragma once

#include <cstdlib>

/// Whether GW_MUTANT in the environment is `number`.
inline bool gradweave_mutant(int number) {
  static const int kNumber = [] {
    const char *text = std::getenv("GW_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return number == kNumber;
}
