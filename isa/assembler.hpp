// Text form of commands, and files that hold a command stream.
//
//   LOAD bf16 dram=0x1000 pitch=640 rows=180 cols=180 spm=0 pstride=180 rot=0 wait=1:1,2:1 post=3 tag=5
//   STORE fp32 dram=0x8000 pitch=720 rows=180 cols=180 spm=360 pstride=360
//   GEMM fp32 m=180 n=180 k=90 a=col:0:180:0 b=row:180:180:0 cin=360:360:0 cout=360:360:0
//   CONV bf16 m=56 n=45 k=45 a=90:90:0 b=row:400:405:0 cout=900:56:0 image=14:14 grid=14:14:4 off=-1:-1 taps=3:3
//        step=1:1 stride=1 plane=0 btap=45 (on one line)
//   WGRAD fp32 m=45 n=45 k=196 a=90:196:0 b=row:400:196:0 cout=900:90:0 image=14:14 grid=14:14:0 off=-1:0 out=14:14
//   ADD fp32 m=45 n=90 a=0:90:0 cin=180:90:0 cout=0:90:0
//   SYNC engine=load wait=3:2
//   MARK tag=7 wait=2:1
//   PROGRAM at=0 words=0x0000000000000201,0x0000000000004021
//   TILE t0=bf16:row:90:45:0:45x26+26 t1=fp32:row:180:2:0:1x26+0:step0 o0=fp32:row:200:90:0:45x26+0
//   VECTOR first=0 elements=26 steps=45
//   RAW 0x00000009 ... (sixteen words)
//
// The word after the opcodes of loads, stores, products and ADD is the element type in memory and of the result. Tiles
// of products and of an ADD are ROW:PSTRIDE:ROT, for a of a GEMM and b of a product behind the walk (row or col: A_COL,
// B_COL); cin of a product is only with ACC. Pairs of an image are rows and columns, `grid` ends with GRID_Y. `core=`,
// `pstride`, `rot`, `plane`, `wait`, `post` and `tag` may be left out, and `pitch` if rows is 1. Numbers are decimal or
// 0x hexadecimal, with a sign only in `off` and `step`. An engine is load, store, compute0, compute1, ..., vector0, ...
// or its number. What a TILE describes is a slot (t0 to t4, o0 to o3) and its type, walk, ROW:PSTRIDE:ROT, ROWSxCOLS +
// the first column, and element0 or step0 if that is repeated. A `-` in the lists of waits and posts is an unused place
// before a used one. # starts a comment.
#pragma once

#include "isa/assembly_error.hpp"
#include "isa/command.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::isa {

/// One line without newline. Any 512 bits can be written: what the typed form cannot express exactly becomes RAW, so
/// assembling the line always gives the same bits.
std::string disassemble(const Command &c);

/// The commands of a text, one a line; `name` stands for the source in errors. Only syntax and field widths are
/// checked: illegal commands can be written on purpose. Throws AssemblyError.
std::vector<Command> assemble(std::string_view text, std::string_view name = "<text>");

/// Writes a stream file (.gws): the magic "GWS", a zero byte, ISA version, command count and an FNV-1a checksum of the
/// commands (little-endian, 4, 8 and 8 bytes), then the commands. The file appears whole or not at all. Throws
/// AssemblyError naming the file and the system's reason.
void write_stream_file(const std::filesystem::path &file, const std::vector<Command> &stream);

/// Reads a stream file; throws AssemblyError if it cannot be read, is no stream file, is of another ISA version, is
/// truncated or longer than its header says, or its checksum is wrong.
std::vector<Command> read_stream_file(const std::filesystem::path &file);
/// The same of `bytes`, the contents of `file`.
std::vector<Command> parse_stream_file(std::string_view bytes, const std::filesystem::path &file);

} // namespace gradweave::isa
