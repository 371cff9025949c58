// Commands as typed values, and their 64-byte binary form. Field meanings: docs/isa.md.
#pragma once

#include "isa/image_walk.hpp"

#include "isa_defs.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gradweave::isa {

/// The binary form: sixteen little-endian 32-bit words.
struct Command {
  std::array<std::uint32_t, kCommandWords> words{};

  std::uint32_t get(const Field &f) const;
  /// Writes a field; throws std::out_of_range, naming the field, if the value does not fit its width.
  void set(const Field &f, std::uint32_t value);
  bool operator==(const Command &o) const { return words == o.words; }
};

struct Wait {
  std::uint8_t semaphore = kNoSemaphore;
  std::uint8_t count = 0; ///< taken from the semaphore; 0 exactly if there is no semaphore
};

/// Waits and posts of a command; unused places hold kNoSemaphore.
struct Sync {
  std::array<Wait, 3> waits{};
  std::array<std::uint8_t, 3> posts{kNoSemaphore, kNoSemaphore, kNoSemaphore};
};

/// A lane of the scratchpad, or a rotation.
using Lane = std::uint16_t;
static_assert(kMaxLanes - 1 <= std::numeric_limits<Lane>::max());

/// Where a tile lies in the scratchpad (skewed panel layout, docs/microarchitecture.md).
struct SpmTile {
  std::uint32_t row = 0;
  std::uint32_t pstride = 0; ///< rows from panel to panel
  Lane rot = 0;              ///< lane of element (0, 0)
};

struct DmaCommand {
  bool store = false; ///< false: LOAD, true: STORE
  bool fp32 = false;
  std::uint64_t dram_addr = 0;      ///< bytes
  std::uint32_t pitch = 0;          ///< bytes
  std::uint32_t rows = 0, cols = 0; ///< elements
  SpmTile spm;
};

struct GemmCommand {
  std::uint8_t core = 0;
  bool a_col = false, b_col = false, acc = false, out_bf16 = false;
  std::uint32_t m = 0, n = 0, k = 0;
  SpmTile a, b, cin, cout;
};

/// A product whose A is an image (docs/convolution.md). CONV: A is walked by columns, `product.k` channels a tap, and B
/// is a tile of all taps. WGRAD: A is walked by rows, `product.k` lines of the grid; one tap.
struct ConvCommand {
  bool weights = false; ///< false: CONV, true: WGRAD
  GemmCommand product;  ///< a_col is !weights
  ImageWalk image;

  /// Line pairs of a block.
  std::uint32_t steps() const { return image.taps() * product.k; }
  /// Rows of B as one tile.
  std::uint32_t b_rows() const { return (image.taps() - 1) * image.b_tap + (product.b_col ? product.n : product.k); }
};

/// C = A + CIN, all but a bf16 C in fp32.
struct AddCommand {
  std::uint8_t core = 0;
  bool out_bf16 = false;
  std::uint32_t m = 0, n = 0;
  SpmTile a, cin, cout;
};

/// Words of a program for the vector unit's memory.
struct ProgramCommand {
  std::uint8_t unit = 0; ///< of core `unit`
  std::uint32_t at = 0;  ///< place of the first word
  std::uint32_t count = 0;
  std::array<std::uint64_t, 6> words{}; ///< those from `count` on are 0
};

/// "t0" to "t4", "o0" to "o3".
std::string slot_name(std::uint32_t slot);

/// What a slot of the vector unit holds: a window of a tile, and how its lines are walked (docs/vector-unit.md).
struct VectorTile {
  std::uint32_t slot = kNoSlot; ///< t0 to t4, then o0 to o3; kNoSlot: none, and nothing else is set
  SpmTile spm;                  ///< rot: lane of (row 0 of the window, column 0 of the panels)
  std::uint32_t col = 0;        ///< column of the first panel in which the window begins, below LANES
  std::uint32_t rows = 0, cols = 0;
  bool fp32 = false;
  bool by_col = false;       ///< lines are columns
  bool same_element = false; ///< element 0 of the line in all lanes and strips
  bool same_step = false;    ///< line 0 in all steps

  /// Elements of its longest line, and lines: what ELEMENTS and STEPS of a VECTOR may be, unless they are repeated.
  std::uint32_t elements() const { return by_col ? rows : cols; }
  std::uint32_t steps() const { return by_col ? cols : rows; }
};

struct TileCommand {
  std::uint8_t unit = 0;
  std::array<VectorTile, 3> tiles;
};

/// A run of the program at word `first`.
struct VectorCommand {
  std::uint8_t unit = 0;
  std::uint32_t first = 0;
  std::uint32_t elements = 0, steps = 0;
};

struct SyncCommand {
  std::uint8_t engine = 0;
  bool mark = false; ///< MARK, whose engine is STORE
};

struct Decoded {
  std::variant<DmaCommand, GemmCommand, AddCommand, ConvCommand, SyncCommand, ProgramCommand, TileCommand,
               VectorCommand>
      op;
  Sync sync;
  std::uint16_t tag = 0;

  /// Engine whose queue takes the command: 0 load, 1 store, 2 + core, 10 + core for its vector unit.
  std::uint8_t engine() const;
};

/// Whether it is the number of a vector unit's engine, that of some NPU.
constexpr bool is_vector_engine(std::uint32_t engine) { return engine >= static_cast<std::uint32_t>(Engine::VECTOR0); }

/// Place of an engine among those that an NPU of so many cores has: load, store, cores, vector units; as the bits of
/// gw_npu's events. Beyond all places for an engine that such an NPU does not have.
constexpr std::uint32_t engine_place(std::uint32_t engine, std::uint32_t cores) {
  const auto core0 = static_cast<std::uint32_t>(Engine::COMPUTE0),
             vector0 = static_cast<std::uint32_t>(Engine::VECTOR0);
  if (engine < core0 + cores) return engine;
  return engine < vector0 ? ~std::uint32_t{0} : engine - vector0 + core0 + cores;
}

/// The engine at such a place.
constexpr std::uint8_t engine_at(std::uint32_t place, std::uint32_t cores) {
  const auto core0 = static_cast<std::uint32_t>(Engine::COMPUTE0),
             vector0 = static_cast<std::uint32_t>(Engine::VECTOR0);
  return static_cast<std::uint8_t>(place < core0 + cores ? place : place - core0 - cores + vector0);
}

/// A ring begins at a multiple of so many bytes and has a multiple of so many: those of the widest beat.
inline constexpr std::uint32_t kRingAlignment = 2048;
/// And so many commands.
inline constexpr std::uint32_t kRingMultiple = kRingAlignment / kCommandBytes;

/// Whether the completion of the command is logged: its opcode is MARK.
bool is_mark(const Command &c);

/// Throws std::out_of_range, naming the field, if a value does not fit.
Command encode(const Decoded &d);

/// Empty if the opcode is unknown; reserved bits and field values are not checked here (see check_command()).
std::optional<Decoded> decode(const Command &c);

/// What dispatch checks against: the hardware's sizes and the DRAM window.
struct Limits {
  std::uint32_t lanes = 0, spm_rows = 0, cores = 1, semaphores = 64;
  std::uint64_t dram_base = 0, dram_size = 0;
  std::uint32_t vectors = 0; ///< vector units: none, or one for each core
};

/// The checks of the hardware's dispatch stage, in its order (docs/microarchitecture.md).
ErrorCode check_command(const Command &c, const Limits &limits);

} // namespace gradweave::isa
