// What is set in a vector unit before runs: programs, each once, and the windows of a run, as commands.
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

/// Programs one behind the other, from word 0 of the program memory on.
struct WrittenPrograms {
  std::vector<std::uint32_t> first_words; ///< of each
  std::vector<isa::ProgramCommand> commands;
};
WrittenPrograms write_programs(const std::vector<isa::vector::Words> &programs);

/// TILE commands of unit 0 that set these slots, each of as many as it has room for.
std::vector<isa::TileCommand> tile_commands(const std::vector<isa::VectorTile> &tiles);

} // namespace gradweave::compiler
