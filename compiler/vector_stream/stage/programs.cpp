#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {

std::size_t place_of(const isa::vector::Program &program, std::vector<isa::vector::Words> &programs) {
  isa::vector::Words words = isa::vector::encode(program);
  const auto found = std::find(programs.begin(), programs.end(), words);
  if (found != programs.end()) return static_cast<std::size_t>(found - programs.begin());
  programs.push_back(std::move(words));
  return programs.size() - 1;
}

std::size_t words_of(const std::vector<isa::vector::Words> &programs) {
  std::size_t words = 0;
  for (const isa::vector::Words &program : programs)
    words += program.size();
  return words;
}

std::vector<isa::ProgramCommand> program_commands(const isa::vector::Words &words, std::uint32_t at) {
  std::vector<isa::ProgramCommand> commands;
  for (std::size_t done = 0; done < words.size();) {
    isa::ProgramCommand &p = commands.emplace_back();
    p.at = at + static_cast<std::uint32_t>(done);
    p.count = static_cast<std::uint32_t>(std::min(words.size() - done, p.words.size()));
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(done), p.count, p.words.begin());
    done += p.count;
  }
  return commands;
}

WrittenPrograms write_programs(const std::vector<isa::vector::Words> &programs) {
  WrittenPrograms written;
  std::uint32_t at = 0;
  for (const isa::vector::Words &words : programs) {
    written.first_words.push_back(at);
    const std::vector<isa::ProgramCommand> commands = program_commands(words, at);
    written.commands.insert(written.commands.end(), commands.begin(), commands.end());
    at += static_cast<std::uint32_t>(words.size());
  }
  return written;
}

std::vector<isa::TileCommand> tile_commands(const std::vector<isa::VectorTile> &tiles) {
  std::vector<isa::TileCommand> commands;
  for (auto next = tiles.begin(); next != tiles.end();) {
    isa::TileCommand &command = commands.emplace_back();
    for (isa::VectorTile &tile : command.tiles)
      if (next != tiles.end()) tile = *next++;
  }
  return commands;
}

} // namespace gradweave::compiler
