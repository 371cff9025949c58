// What LOADs and STOREs take of the DRAM.
#pragma once

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// Bytes of whole units (bus beats, DRAM accesses) of one tile row at `address`.
inline std::uint64_t beat_bytes(std::uint64_t address, std::uint64_t bytes, std::uint64_t unit) {
  return round_up(address + bytes, unit) - address / unit * unit;
}

/// What the DRAM charges at a time.
inline std::uint32_t access_bytes(const Machine &npu) {
  return npu.memory.access_bytes != 0 ? npu.memory.access_bytes : npu.bus_bytes;
}

/// Bytes of whole DRAM accesses of a tile that lies at `address`: what its time at the DRAM follows. Pitches are whole
/// beats, so that every row costs what the first does.
inline std::uint64_t dram_bytes_of(std::uint64_t address, const Rect &tile, bool fp32, const Machine &npu) {
  return tile.rows * beat_bytes(address, tile.cols * (fp32 ? 4ULL : 2ULL), access_bytes(npu));
}
inline std::uint64_t dram_bytes_of(std::uint64_t address, const TileForm &tile, bool fp32, const Machine &npu) {
  return tile.rows * beat_bytes(address, tile.cols * (fp32 ? 4ULL : 2ULL), access_bytes(npu));
}

/// Of a LOAD or STORE of a program; 0 of what moves nothing.
inline std::uint64_t dram_bytes_of(const Program &program, const Action &a, const Machine &npu) {
  return a.moves() ? dram_bytes_of(a.memory.address, program.form(a), a.fp32, npu) : 0;
}

} // namespace gradweave::compiler
