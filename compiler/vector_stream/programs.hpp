// Programs of a section: each once, and as the commands that write them.
#pragma once

#include "isa/command.hpp"
#include "isa/vector/program.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Which of the programs it is; it goes behind them if it is new.
std::size_t place_of(const isa::vector::Program &program, std::vector<isa::vector::Words> &programs);

/// Words of the program memory that all of them take.
std::size_t words_of(const std::vector<isa::vector::Words> &programs);

/// PROGRAM commands of unit 0 that write the words from word `at` of the program memory on.
std::vector<isa::ProgramCommand> program_commands(const isa::vector::Words &words, std::uint32_t at);

} // namespace gradweave::compiler
