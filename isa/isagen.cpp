// isagen: turns isa.toml into the C++ constants, the SystemVerilog package and the reference page.
//
//   isagen isa.toml cpp|sv|md > output
//
// The three outputs share one definition, so hardware, software and documentation cannot drift.
#include "isa/table.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using gradweave::isa::each, gradweave::isa::num, gradweave::isa::str;

std::int64_t counter_base(const toml::table &root) { return num(*root["counters"].as_table(), "base"); }

bool field_is_of(const toml::table &field, std::string_view opcode) {
  for (const auto &o : *field["of"].as_array())
    if (o.value<std::string>() == opcode) return true;
  return false;
}

bool is_per_core(const toml::table &counter) { return counter["per_core"].value_or(false); }

std::int64_t width_of(const toml::table &root, std::string_view field) {
  std::int64_t width = 0;
  each(root, "field", [&](const toml::table &f) {
    if (str(f, "name") == field) width = num(f, "width");
  });
  if (width == 0) throw std::runtime_error(fmt::format("there is no field {}", field));
  return width;
}

/// Bit mask, one 32-bit word, of the bits of word `w` that fields of `opcode` cover.
std::uint32_t used_bits(const toml::table &root, std::string_view opcode, std::int64_t w) {
  std::uint32_t mask = 0;
  each(root, "field", [&](const toml::table &f) {
    if (num(f, "word") != w || !field_is_of(f, opcode)) return;
    auto bits = static_cast<std::uint32_t>((std::uint64_t{1} << num(f, "width")) - 1U);
    mask |= bits << num(f, "lsb");
  });
  return mask;
}

void emit_cpp_enumerations(const toml::table &root) {
  auto enumeration = [&](std::string_view key, std::string_view type, std::string_view base, std::string_view val) {
    fmt::print("enum class {} : {} {{\n", type, base);
    each(root, key,
         [&](const toml::table &t) { fmt::print("  {} = {}, ///< {}\n", str(t, "name"), num(t, val), str(t, "doc")); });
    fmt::print("}};\n\n");
  };
  enumeration("opcode", "Opcode", "std::uint8_t", "value");
  enumeration("engine", "Engine", "std::uint8_t", "value");
  enumeration("error", "ErrorCode", "std::uint32_t", "value");
  enumeration("csr", "Csr", "std::uint32_t", "offset");
}

void emit_cpp_fields(const toml::table &root) {
  fmt::print("struct Field {{\n  std::string_view name;\n  std::uint8_t word;\n  std::uint8_t lsb;\n");
  fmt::print("  std::uint8_t width;\n}};\n\nnamespace field {{\n");
  each(root, "field", [&](const toml::table &f) {
    fmt::print("inline constexpr Field {0}{{\"{0}\", {1}, {2}, {3}}}; ///< {4}\n", str(f, "name"), num(f, "word"),
               num(f, "lsb"), num(f, "width"), str(f, "doc"));
  });
  fmt::print("}} // namespace field\n\n");

  each(root, "opcode", [&](const toml::table &op) {
    std::string name = str(op, "name");
    std::size_t n = 0;
    std::string list;
    each(root, "field", [&](const toml::table &f) {
      if (!field_is_of(f, name)) return;
      list += fmt::format("    field::{},\n", str(f, "name"));
      ++n;
    });
    fmt::print("inline constexpr std::array<Field, {}> k{}Fields{{\n{}}};\n\n", n, name, list);
  });
}

void emit_cpp_error_names(const toml::table &root) {
  std::size_t errors = 0;
  each(root, "error", [&](const toml::table &) { ++errors; });
  fmt::print("inline constexpr std::array<std::string_view, {}> kErrorNames{{\n", errors);
  each(root, "error", [&](const toml::table &e) { fmt::print("    \"{}\",\n", str(e, "name")); });
  fmt::print("}};\n\n");
}

/// Offset of the first register that tells what the NPU was built with, and how many there are; they follow one
/// another.
struct Built {
  std::int64_t first = 0, count = 0;
};
bool is_built(const toml::table &csr) { return csr["built"].value_or(false); }
Built built_registers(const toml::table &root) {
  Built built;
  each(root, "csr", [&](const toml::table &c) {
    if (!is_built(c)) return;
    if (built.count == 0) built.first = num(c, "offset");
    if (num(c, "offset") != built.first + 4 * built.count)
      throw std::runtime_error(
          fmt::format("register {} does not follow the one that is built before it", str(c, "name")));
    ++built.count;
  });
  return built;
}

void emit_cpp_registers(const toml::table &root) {
  fmt::print("struct CsrInfo {{\n  Csr csr;\n  std::string_view name;\n  bool readable;\n  bool writable;\n");
  fmt::print("  bool built; ///< tells what the NPU was built with\n}};\n\n");
  std::size_t count = 0;
  each(root, "csr", [&](const toml::table &) { ++count; });
  fmt::print("inline constexpr std::array<CsrInfo, {}> kCsrs{{{{\n", count);
  each(root, "csr", [&](const toml::table &c) {
    const std::string access = str(c, "access");
    fmt::print("    {{Csr::{0}, \"{0}\", {1}, {2}, {3}}},\n", str(c, "name"), access != "wo", access != "ro",
               is_built(c));
  });
  fmt::print("}}}};\n\n");
}

void emit_cpp_counters(const toml::table &root) {
  fmt::print("inline constexpr std::uint32_t kCounterBase = {:#x};\n\nenum class Counter : std::uint32_t {{\n",
             counter_base(root));
  std::size_t counters = 0;
  const auto infos = [&](std::string_view list, std::string_view name, std::string_view doc) {
    std::size_t count = 0;
    each(root, list, [&](const toml::table &) { ++count; });
    fmt::print("/// {}\ninline constexpr std::array<CounterInfo, {}> {}{{{{\n", doc, count, name);
    each(root, list,
         [&](const toml::table &c) { fmt::print("    {{\"{}\", \"{}\"}},\n", str(c, "name"), str(c, "group")); });
    fmt::print("}}}};\n\n");
  };
  each(root, "counter",
       [&](const toml::table &c) { fmt::print("  {} = {}, ///< {}\n", str(c, "name"), counters++, str(c, "doc")); });
  each(root, "vector_counter",
       [&](const toml::table &c) { fmt::print("  {} = {}, ///< {}\n", str(c, "name"), counters++, str(c, "doc")); });
  fmt::print("}};\n\nstruct CounterInfo {{\n  std::string_view name;\n  std::string_view group; ///< counters of a ");
  fmt::print("group add up to CYCLES; empty: none\n}};\n\n");
  infos("counter", "kCounters", "Those of an NPU of one core without a vector unit.");
  infos("vector_counter", "kVectorCounters", "Those of a vector unit; their numbers follow.");

  std::size_t per_core = 0;
  std::string list;
  each(root, "counter", [&](const toml::table &c) {
    if (!is_per_core(c)) return;
    list += fmt::format("    Counter::{},\n", str(c, "name"));
    ++per_core;
  });
  fmt::print("/// Counters that each core has, in the order of the list above.\n");
  fmt::print("inline constexpr std::array<Counter, {}> kCoreCounters{{\n{}}};\n\n", per_core, list);
}

void emit_cpp(const toml::table &root) {
  fmt::print("// Generated by isagen from isa/isa.toml.\n#pragma once\n\n");
  fmt::print("#include <array>\n#include <cstdint>\n#include <string_view>\n\n");
  fmt::print("namespace gradweave::isa {{\n\n");
  fmt::print("inline constexpr std::uint32_t kVersion = {};\n", num(root, "version"));
  fmt::print("inline constexpr std::uint32_t kCommandBytes = {};\n", num(root, "command_bytes"));
  fmt::print("inline constexpr std::uint32_t kCommandWords = kCommandBytes / 4;\n");
  fmt::print("inline constexpr std::uint8_t kNoSemaphore = {};\n", num(root, "no_semaphore"));
  fmt::print("inline constexpr std::uint32_t kProgramWords = {}; ///< of a vector unit\n", num(root, "program_words"));
  fmt::print("inline constexpr std::uint32_t kOperandSlots = {}; ///< of its tiles: those that a program reads\n",
             num(root, "operand_slots"));
  fmt::print("inline constexpr std::uint32_t kSlots = {}; ///< and those that it writes, behind them\n",
             num(root, "slots"));
  fmt::print("inline constexpr std::uint32_t kNoSlot = {};\n", num(root, "no_slot"));
  fmt::print("inline constexpr std::uint32_t kMaxLanes = {}; ///< that a rotation can name\n",
             std::int64_t{1} << width_of(root, "SPM_ROT"));
  fmt::print("inline constexpr std::uint32_t kMaxSpmRows = {}; ///< that a command can address\n\n",
             (std::int64_t{1} << width_of(root, "SPM_ROW")) - 1);
  emit_cpp_enumerations(root);
  emit_cpp_fields(root);
  emit_cpp_error_names(root);
  emit_cpp_registers(root);
  emit_cpp_counters(root);
  fmt::print("}} // namespace gradweave::isa\n");
}

/// First bit and width of the fields of tiles have to be those that tile_t says, with T0_COL and its like those of
/// place_t.
void check_tiles(const toml::table &root) {
  const auto first_bit = [&](const std::string &field) {
    std::int64_t bit = 0;
    each(root, "field", [&](const toml::table &f) {
      if (str(f, "name") == field) bit = 32 * num(f, "word") + num(f, "lsb");
    });
    return bit;
  };
  const std::int64_t row = width_of(root, "SPM_ROW"), lane = width_of(root, "SPM_ROT");
  const auto is_at = [&](const std::string &field, std::int64_t bit, std::int64_t width) {
    if (first_bit(field) != bit || width_of(root, field) != width)
      throw std::runtime_error(fmt::format("field {} is not bits {} to {} of a command, where its tile has it", field,
                                           bit, bit + width - 1));
  };
  for (const std::string tile : {"SPM", "A", "B", "CIN", "COUT", "T0", "T1", "T2"}) {
    const std::int64_t bit = first_bit(tile + "_ROW");
    is_at(tile + "_ROW", bit, row);
    is_at(tile + "_ROT", bit + row, lane);
    is_at(tile + "_PSTRIDE", bit + row + lane, row);
    if (tile[0] == 'T') is_at(tile + "_COL", bit + 2 * row + lane, lane);
  }
}

/// What crosses ports together. At most 64 bits: wider ones cost Verilator's models time.
void emit_sv_structs(const toml::table &root) {
  check_tiles(root);
  const std::int64_t row = width_of(root, "SPM_ROW"), lane = width_of(root, "SPM_ROT");
  fmt::print("\n  // A tile in the scratchpad, as a command has it from NAME_ROW_LSB on.\n");
  fmt::print("  typedef struct packed {{ row_t pstride; lane_t rot; row_t row; }} tile_t;\n");
  fmt::print("  // Where a walk through a tile begins; jj: column within its panel.\n");
  fmt::print("  typedef struct packed {{ lane_t jj; row_t pstride; lane_t rot; row_t row; }} place_t;\n");
  fmt::print(
      "  // A line of a tile as an access to the scratchpad. Its first element is in column jj of a panel; those\n");
  fmt::print("  // behind the panel's end are in addr1.\n");
  fmt::print("  typedef struct packed {{ row_t addr1; row_t addr0; lane_t rot; lane_t jj; }} line_t;\n");
  fmt::print("  localparam int unsigned TILE_W = {};\n", 2 * row + lane);
  fmt::print("  localparam int unsigned PLACE_W = {0};\n  localparam int unsigned LINE_W = {0};\n", 2 * (row + lane));
}

/// Types of fields, and of what is made of them. Plain numbers: Icarus Verilog 11 takes nothing else in types of
/// packages.
void emit_sv_types(const toml::table &root) {
  const auto width = [&](std::string_view field) { return width_of(root, field); };
  const auto type = [](std::string_view name, std::int64_t bits, std::string_view doc) {
    fmt::print("  typedef logic [{}:0] {};{}{}\n", bits - 1, name, doc.empty() ? "" : " // ", doc);
  };
  fmt::print("\n");
  type("cmd_t", 8 * num(root, "command_bytes"), "a command");
  type("opcode_t", width("OPCODE"), "");
  type("engine_t", width("ENGINE"), "number of an engine");
  type("sem_t", width("POST0"), "number of a semaphore");
  type("wait_count_t", width("WAIT0_COUNT"), "what a wait takes from its semaphore");
  type("tag_t", width("TAG"), "what software gives a command");
  type("posts_t", 3 * width("POST0"), "semaphores to post to, POST0 lowest");
  const unsigned addr = width("DRAM_ADDR_LO") + width("DRAM_ADDR_HI");
  type("addr_t", addr, "place or size in memory, in bytes");
  type("pitch_t", width("PITCH"), "bytes from a row in memory to the next");
  type("dim_t", width("COLS"), "rows, columns or steps of a tile");
  type("row_bytes_t", width("COLS") + 2, "bytes of a row of a tile");
  type("row_t", width("SPM_ROW"), "row of the scratchpad, panel stride, macro-bank");
  type("lane_t", width("SPM_ROT"), "lane, rotation, column of a panel");
  type("lanes_t", width("SPM_ROT") + 1, "number of lanes, elements of a line");
  type("index_t", 32, "place of a command in its stream, number of commands");
  type("err_t", 8, "error code");
  type("csr_addr_t", 12, "offset of a register");
  type("csr_data_t", 32, "register");
  type("counter_t", 64, "");
  type("counter_index_t", 8, "number of a counter");
  emit_sv_structs(root);
  fmt::print("  localparam int unsigned ADDR_W = {};\n  localparam int unsigned ROW_W = {};\n", addr, width("SPM_ROW"));
  fmt::print("  localparam int unsigned LANE_W = {};\n  localparam int unsigned LANES_W = {};\n", width("SPM_ROT"),
             width("SPM_ROT") + 1);
  fmt::print("  localparam int unsigned POSTS_W = {};\n  localparam int unsigned INDEX_W = 32;\n", 3 * width("POST0"));
}

void emit_sv(const toml::table &root) {
  fmt::print("// Generated by isagen from isa/isa.toml.\npackage gw_isa_pkg;\n");
  fmt::print("  // No design uses every constant.\n  // verilator lint_off UNUSEDPARAM\n");
  fmt::print("  localparam int unsigned CMD_BITS = {};\n", 8 * num(root, "command_bytes"));
  fmt::print("  localparam int unsigned CMD_BYTES = {};\n", num(root, "command_bytes"));
  fmt::print("  localparam logic [7:0] NO_SEM = 8'd{};\n", num(root, "no_semaphore"));
  fmt::print("  localparam int unsigned PROGRAM_WORDS = {};\n", num(root, "program_words"));
  fmt::print("  localparam int unsigned OPERAND_SLOTS = {};\n  localparam int unsigned SLOTS = {};\n",
             num(root, "operand_slots"), num(root, "slots"));
  fmt::print("  localparam logic [3:0] NO_SLOT = 4'd{};\n", num(root, "no_slot"));
  fmt::print("  localparam logic [31:0] ID_VALUE = 32'h4757{:04x};\n\n", num(root, "version"));
  each(root, "opcode", [&](const toml::table &t) {
    fmt::print("  localparam logic [7:0] OP_{} = 8'd{};\n", str(t, "name"), num(t, "value"));
  });
  each(root, "engine", [&](const toml::table &t) {
    fmt::print("  localparam logic [7:0] ENG_{} = 8'd{};\n", str(t, "name"), num(t, "value"));
  });
  fmt::print("\n  // Fields: command bit of the least significant bit, and width.\n");
  each(root, "field", [&](const toml::table &f) {
    fmt::print("  localparam int unsigned {0}_LSB = {1};\n  localparam int unsigned {0}_W = {2};\n", str(f, "name"),
               32 * num(f, "word") + num(f, "lsb"), num(f, "width"));
  });
  emit_sv_types(root);
  fmt::print("\n  // Bits that the fields of an opcode cover; all others must be zero.\n");
  each(root, "opcode", [&](const toml::table &op) {
    std::string hex;
    for (std::int64_t w = num(root, "command_bytes") / 4 - 1; w >= 0; --w)
      hex += fmt::format("{:08x}{}", used_bits(root, str(op, "name"), w), w == 0 ? "" : "_");
    fmt::print("  localparam logic [CMD_BITS-1:0] {}_USED = {}'h{};\n", str(op, "name"), 8 * num(root, "command_bytes"),
               hex);
  });
  fmt::print("\n");
  each(root, "error", [&](const toml::table &t) {
    fmt::print("  localparam logic [7:0] ERR_{} = 8'd{};\n", str(t, "name"), num(t, "value"));
  });
  fmt::print("\n");
  each(root, "csr", [&](const toml::table &t) {
    fmt::print("  localparam logic [11:0] CSR_{} = 12'h{:03x};\n", str(t, "name"), num(t, "offset"));
  });
  const Built built = built_registers(root);
  fmt::print("  // Registers that tell what the NPU was built with: the first, and how many.\n");
  fmt::print("  localparam logic [11:0] CSR_CFG = 12'h{:03x};\n", built.first);
  fmt::print("  localparam int unsigned CFG_NUM = {};\n", built.count);
  fmt::print("  localparam logic [11:0] CSR_COUNTERS = 12'h{:03x};\n\n", counter_base(root));
  int index = 0;
  each(root, "counter",
       [&](const toml::table &c) { fmt::print("  localparam int unsigned CNT_{} = {};\n", str(c, "name"), index++); });
  fmt::print("  localparam int unsigned CNT_NUM = {};\n", index);
  int per_core = 0;
  each(root, "counter", [&](const toml::table &c) { per_core += is_per_core(c) ? 1 : 0; });
  fmt::print("  localparam int unsigned CNT_CORE_NUM = {}; // of each core beyond the first\n", per_core);
  fmt::print("  // Of a vector unit, by their places among its own\n");
  int of_unit = 0;
  each(root, "vector_counter", [&](const toml::table &c) {
    fmt::print("  localparam int unsigned CNT_{} = {};\n", str(c, "name"), of_unit++);
  });
  fmt::print("  localparam int unsigned CNT_VECTOR_NUM = {};\n", of_unit);
  fmt::print("  // verilator lint_on UNUSEDPARAM\nendpackage\n");
}

void emit_md(const toml::table &root) {
  fmt::print(
      "# Instruction set\n\nGenerated by `isagen` from [isa/isa.toml](../isa/isa.toml); `make docs` rewrites it ");
  fmt::print("and a test compares. What the\nfields mean for the hardware is in [microarchitecture.md]");
  fmt::print("(microarchitecture.md).\n\nA command is {} bytes, sixteen little-endian 32-bit words. ",
             num(root, "command_bytes"));
  fmt::print(
      "Bits that no field of the opcode covers must be zero.\nThe order of commands in memory is a legal serial ");
  fmt::print("order: every wait is satisfied by posts of earlier commands.\n\n## Opcodes\n\n");
  fmt::print("| opcode | value | engine | does |\n|---|---|---|---|\n");
  each(root, "opcode", [&](const toml::table &t) {
    fmt::print("| {} | {} | {} | {} |\n", str(t, "name"), num(t, "value"), str(t, "engine"), str(t, "doc"));
  });
  fmt::print("\n## Engines\n\n| engine | value | |\n|---|---|---|\n");
  each(root, "engine",
       [&](const toml::table &t) { fmt::print("| {} | {} | {} |\n", str(t, "name"), num(t, "value"), str(t, "doc")); });
  each(root, "opcode", [&](const toml::table &op) {
    std::string name = str(op, "name");
    fmt::print("\n## Fields of {}\n\n| field | word | bits | meaning |\n|---|---|---|---|\n", name);
    each(root, "field", [&](const toml::table &f) {
      if (!field_is_of(f, name)) return;
      fmt::print("| {} | {} | {}:{} | {} |\n", str(f, "name"), num(f, "word"), num(f, "lsb") + num(f, "width") - 1,
                 num(f, "lsb"), str(f, "doc"));
    });
  });
  fmt::print("\n## Error codes\n\n| code | name | meaning |\n|---|---|---|\n");
  each(root, "error",
       [&](const toml::table &t) { fmt::print("| {} | {} | {} |\n", num(t, "value"), str(t, "name"), str(t, "doc")); });
  fmt::print("\n## Registers\n\n| offset | name | access | meaning |\n|---|---|---|---|\n");
  each(root, "csr", [&](const toml::table &t) {
    fmt::print("| {:#05x} | {} | {} | {} |\n", num(t, "offset"), str(t, "name"), str(t, "access"), str(t, "doc"));
  });
  fmt::print("\n## Counters\n\n64 bits, low word first. The counters of a group add up to CYCLES.\n\n");
  fmt::print("| offset | name | group | per core | counts |\n|---|---|---|---|---|\n");
  std::int64_t offset = counter_base(root);
  each(root, "counter", [&](const toml::table &c) {
    fmt::print("| {:#05x} | {} | {} | {} | {} |\n", offset, str(c, "name"), str(c, "group"),
               is_per_core(c) ? "yes" : "", str(c, "doc"));
    offset += 8;
  });
  fmt::print("\nPer-core counters in this table are those of core 0. From {:#05x} on, those of core 1, core 2, ... ",
             offset);
  fmt::print(
      "follow in the\nsame order, without gaps. Behind them are those of each vector unit, that of core 0 first:\n\n");
  fmt::print("| place | name | group | counts |\n|---|---|---|---|\n");
  int place = 0;
  each(root, "vector_counter", [&](const toml::table &c) {
    fmt::print("| {} | {} | {} | {} |\n", place++, str(c, "name"), str(c, "group"), str(c, "doc"));
  });
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fputs("usage: isagen ISA.TOML cpp|sv|md > OUTPUT\n", stderr);
    return 2;
  }
  try {
    toml::table root = toml::parse_file(argv[1]);
    std::string_view format = argv[2];
    if (format == "cpp") {
      emit_cpp(root);
    } else if (format == "sv") {
      emit_sv(root);
    } else if (format == "md") {
      emit_md(root);
    } else {
      fmt::print(stderr, "isagen: unknown format '{}'; use cpp, sv or md\n", format);
      return 2;
    }
  } catch (const std::exception &e) {
    fmt::print(stderr, "isagen: {}: {}\n", argv[1], e.what());
    return 1;
  }
  return 0;
}
