// Programs one behind the other, and windows in as few TILEs as can be.
#include "compiler/vector_stream/stage/programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gradweave::compiler {
namespace {

TEST(WritePrograms, StandOneBehindTheOther) {
  const std::vector<isa::vector::Words> programs{{1, 2, 3, 4, 5, 6, 7}, {}, {8, 9}};
  const WrittenPrograms written = write_programs(programs);
  EXPECT_EQ(written.first_words, (std::vector<std::uint32_t>{0, 7, 7}));
  isa::vector::Words memory(9);
  for (const isa::ProgramCommand &command : written.commands) {
    ASSERT_LE(command.at + command.count, memory.size());
    std::copy_n(command.words.begin(), command.count, memory.begin() + command.at);
  }
  EXPECT_EQ(memory, (isa::vector::Words{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(TileCommands, SetEachSlotOnceInOrder) {
  constexpr std::size_t kRoom = std::tuple_size_v<decltype(isa::TileCommand::tiles)>;
  for (std::uint32_t count = 0; count < 9; ++count) {
    std::vector<isa::VectorTile> tiles(count);
    for (std::uint32_t i = 0; i < count; ++i)
      tiles[i].slot = i;
    const std::vector<isa::TileCommand> commands = tile_commands(tiles);
    EXPECT_EQ(commands.size(), (count + kRoom - 1) / kRoom);
    std::uint32_t next = 0;
    for (const isa::TileCommand &command : commands)
      for (const isa::VectorTile &tile : command.tiles) {
        EXPECT_EQ(tile.slot, next < count ? next : isa::kNoSlot);
        ++next;
      }
  }
}

} // namespace
} // namespace gradweave::compiler
