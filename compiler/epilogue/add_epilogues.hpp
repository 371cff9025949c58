// Epilogues: what the vector unit does with a product's result tiles while they are still in the scratchpad.
#pragma once

#include "compiler/epilogue/epilogue.hpp"
#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// The NPU without the scratchpad that epilogues may take: whole macro-banks, an eighth and a quarter of them, each one
/// at least. None if it has one macro-bank only.
std::vector<Machine> without_epilogue_room(const Machine &npu);
/// That room.
EpilogueRoom epilogue_room(const NpuConfig &npu, const NpuConfig &without, std::uint32_t first_semaphore);

/// Whether the jobs can be run on tiles of the result (stages_on_matrix()), and give something that is stored.
bool is_epilogue(const Epilogue &epilogue);

/// The product's commands, in which each STORE of a result has become: a SYNC of the STORE engine, which waits as the
/// STORE did and tells the vector unit that the tile is there; LOADs of the operands, TILEs and VECTORs, and STOREs of
/// what is given, area by area; the last STORE posts what the replaced one did. They stand among the product's commands
/// up to the next result's STORE, before any command that needs what they post. All else stays as it is.
///
/// Empty if an epilogue does not fit: not even a line of its tiles has room, or its programs are more than the program
/// memory holds. The product's commands keep to the rules of sections (compiler/vector_stream/job_commands.hpp), and so
/// do these. Throws std::out_of_range, naming the field, if a value does not fit a command.
std::vector<isa::Command> add_epilogues(const std::vector<isa::Command> &product,
                                        const std::vector<ResultStore> &stores, const std::vector<Epilogue> &epilogues,
                                        const EpilogueRoom &room, const NpuConfig &npu);

} // namespace gradweave::compiler
