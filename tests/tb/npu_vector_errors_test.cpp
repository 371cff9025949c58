// Errors of the commands of a vector unit, and of what its programs do, crossed with what the other engines are doing.
// Expected codes of commands that dispatch refuses are those of isa::check_command(), those of programs
// isa::vector::check()'s. Both models of the NPU stop with the same.
#include "isa/vector/program.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/tb/crowded_program.hpp"
#include "tests/tb/small_program.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace gradweave::tb {
namespace {

using isa::Decoded;
using isa::ErrorCode;
using isa::vector::FaultCode;
using isa::vector::Op;
using Crowd = CrowdedProgram;

constexpr std::uint8_t kUnit = static_cast<std::uint8_t>(isa::Engine::VECTOR0);
constexpr std::uint32_t kFilling = 65535 / 3; ///< SYNCs of three posts that raise a semaphore to its maximum

/// t0, t1 and o0: four steps of eight elements.
isa::TileCommand tiles() {
  isa::TileCommand t;
  for (std::uint32_t i : {0U, 1U, 2U}) {
    t.tiles[i].slot = i == 2 ? isa::kOperandSlots : i;
    t.tiles[i].spm = {400 + 8 * i, 8, 0};
    t.tiles[i].rows = 4;
    t.tiles[i].cols = 8;
  }
  return t;
}

/// o0 = t0 + t0 in each step, by way of a register.
isa::vector::Words words() {
  isa::vector::Program p;
  const auto t0 = isa::vector::tile(0), r0 = isa::vector::reg(0);
  p.sections[1] = {{Op::ADD, 0, {t0, t0}, 0}, {Op::MAX, isa::vector::kOutputCode, {r0, r0}, 0}};
  return encode(p);
}

isa::ProgramCommand program(const isa::vector::Words &words) {
  isa::ProgramCommand p;
  p.count = static_cast<std::uint32_t>(words.size());
  std::copy(words.begin(), words.end(), p.words.begin());
  return p;
}

isa::VectorCommand vector() {
  isa::VectorCommand v;
  v.elements = 8;
  v.steps = 4;
  return v;
}

class NpuVectorErrors : public testing::Test {
protected:
  NpuVectorErrors() {
    DeviceOptions options;
    options.watchdog_cycles = 600;
    device_ = std::make_unique<RtlDevice>(config_, options, make_npu_model());
    device_->allocate(0x100000, 4096);
  }

  /// How the functional and the timing model end.
  void expect_of_models(const std::vector<Decoded> &commands, const RunStatus &status, const std::string &what) const {
    const std::vector<isa::Command> stream = SmallProgram::encode(commands);
    DeviceMemory memory(config_.memory.size_bytes);
    memory.write(0, stream.data(), stream.size() * isa::kCommandBytes);
    FunctionalNpu model(config_, memory);
    model.start(0, static_cast<std::uint32_t>(stream.size()));
    const FunctionalNpu::Status &functional = model.run();
    const timing::RunResult timing = timing::run(config_, stream);
    for (const ErrorCode error : {functional.error, timing.error})
      EXPECT_EQ(error, status.error) << what;
    for (const std::uint32_t index : {functional.error_index, timing.error_index})
      EXPECT_EQ(index, status.error_index) << what;
    for (const std::uint32_t word : {functional.error_word, timing.error_word})
      EXPECT_EQ(word, status.error_word) << what;
  }

  RunStatus expect(const std::vector<Decoded> &commands, ErrorCode code, std::size_t index, const std::string &what) {
    device_->submit(SmallProgram::encode(commands));
    const RunStatus status = device_->wait();
    EXPECT_EQ(status.error, code) << what << ": " << isa::kErrorNames[static_cast<std::size_t>(status.error)];
    EXPECT_EQ(status.error_index, index) << what;
    device_->reset();
    return status;
  }

  /// A legal command of each opcode, and a SYNC of the unit.
  static std::vector<Decoded> all() {
    return {{program(words()), {}, 0}, {tiles(), {}, 0}, {vector(), {}, 0}, SmallProgram::sync(kUnit)};
  }

  isa::Limits limits() const {
    return {8, config_.spm_rows(), config_.cores, config_.semaphores, 0, config_.memory.size_bytes, config_.vectors()};
  }

  const Machine config_ = load_machine("configs/test8v2.toml");
  std::unique_ptr<RtlDevice> device_;
};

TEST_F(NpuVectorErrors, DispatchRefusesFieldsAndTiles) {
  isa::ProgramCommand p = program(words());
  p.count = 0;
  isa::TileCommand field = tiles(), range = field;
  field.tiles[1].spm.rot = 8;
  range.tiles[1].spm.row = config_.spm_rows() - 3;
  isa::VectorCommand v = vector();
  v.steps = 0;
  for (const Decoded &d : {Decoded{p, {}, 0}, Decoded{field, {}, 0}, Decoded{v, {}, 0}}) {
    ASSERT_EQ(isa::check_command(isa::encode(d), limits()), ErrorCode::ILLEGAL_FIELD);
    expect({d}, ErrorCode::ILLEGAL_FIELD, 0, "a field");
  }
  ASSERT_EQ(isa::check_command(isa::encode({range, {}, 0}), limits()), ErrorCode::SPM_RANGE);
  expect({{range, {}, 0}}, ErrorCode::SPM_RANGE, 0, "a tile beyond the scratchpad");
}

TEST_F(NpuVectorErrors, WaitsEndInTheWatchdog) {
  for (Decoded d : all()) {
    d.sync.waits[2] = {Crowd::kNeverPosted, 255};
    expect({SmallProgram::sync(0), d}, ErrorCode::WATCHDOG, 1, "a wait that nothing satisfies");
  }
}

TEST_F(NpuVectorErrors, PostsOverflowASemaphore) {
  Decoded full = SmallProgram::sync(0), last = full;
  full.sync.posts = {5, 5, 5};
  last.sync.posts[0] = 6;
  std::vector<Decoded> filled(kFilling, full);
  filled.push_back(last); // says that all posts before it are made
  const std::vector<Decoded> legal = all();
  for (std::size_t i = 0; i < legal.size(); ++i) {
    std::vector<Decoded> commands = filled;
    for (std::size_t before = 0; before < i; ++before) // a VECTOR has its program and its tiles
      commands.push_back(legal[before]);
    commands.push_back(legal[i]);
    commands.back().sync.waits[0] = {6, 1};
    commands.back().sync.posts = {5, isa::kNoSemaphore, 5}; // the first error of a cycle is kept
    expect(commands, ErrorCode::SEM_OVERFLOW, commands.size() - 1, "a post at the maximum");
  }
}

struct Spoiled {
  FaultCode code;
  std::uint32_t word; ///< of the program
  std::function<void(isa::vector::Words &)> spoil;
};

/// A program of each fault.
std::vector<Spoiled> faults() {
  isa::vector::Instruction unwritten{Op::ADD, 0, {isa::vector::tile(0), isa::vector::reg(3)}, 0},
      shift{Op::SHL, 0, {isa::vector::tile(0)}, 32},
      result{Op::ADD, 31, {isa::vector::tile(0), isa::vector::tile(0)}, 0},
      scalar{Op::SET, isa::vector::kConstantCode, {}, 0};
  constexpr unsigned kMasks = isa::vector::kTiles + isa::vector::kOutputs; // bits of a section's mask
  return {{FaultCode::HEADER, 0, [](auto &w) { w[0] ^= 2; }},
          {FaultCode::HEADER, 1, // a bit above the masks
           [](auto &w) { w[1] |= std::uint64_t{1} << (kMasks * isa::vector::kSections); }},
          {FaultCode::LENGTH, 0, [](auto & /*words*/) {}},  // it begins where it has no room
          {FaultCode::MASK, 1, [](auto &w) { w[1] |= 1; }}, // t0 of section 0, which is empty
          {FaultCode::MASK, 3, [](auto &w) { w[1] |= std::uint64_t{1} << (kMasks + 1); }}, // t1, which it does not use
          {FaultCode::MASK, 2, [](auto &w) { w[1] ^= std::uint64_t{1} << kMasks; }}, // t0, which it uses, is missing
          {FaultCode::OPCODE, 2, [](auto &w) { w[2] |= 31; }},
          {FaultCode::RESULT, 2, [=](auto &w) { w[2] = encode(result); }},
          {FaultCode::RESULT, 2, [=](auto &w) { w[2] = encode(scalar); }},
          {FaultCode::UNUSED, 3, [](auto &w) { w[3] |= std::uint64_t{1} << 40U; }},
          {FaultCode::NUMBER, 2, [=](auto &w) { w[2] = encode(shift); }},
          {FaultCode::UNWRITTEN, 2, [=](auto &w) { w[2] = encode(unwritten); }},
          {FaultCode::TILE, 1, [](auto & /*words*/) {}}}; // it has no tiles
}

TEST_F(NpuVectorErrors, EveryFaultOfAProgramStopsTheRun) {
  for (const Spoiled &fault : faults()) {
    isa::vector::Words w = words();
    fault.spoil(w);
    isa::ProgramCommand p = program(w);
    isa::VectorCommand v = vector();
    p.at = v.first = 5;
    if (fault.code == FaultCode::LENGTH) {
      p.at = v.first = isa::kProgramWords - 3; // the last word is left out
      p.count = 3;
      p.words[3] = 0;
    } else if (fault.code != FaultCode::TILE) {
      const auto found = isa::vector::check(w);
      ASSERT_TRUE(found);
      ASSERT_EQ(found->code, fault.code);
      ASSERT_EQ(found->index, fault.word);
    }
    std::vector<Decoded> commands{{p, {}, 0}};
    if (fault.code != FaultCode::TILE) commands.push_back({tiles(), {}, 0});
    commands.push_back({v, {}, 0});
    const std::string name(isa::vector::kFaultNames[static_cast<std::size_t>(fault.code)]);
    const RunStatus status = expect(commands, ErrorCode::VECTOR_FAULT, commands.size() - 1, name);
    EXPECT_EQ(status.error_word, v.first + fault.word + (static_cast<std::uint32_t>(fault.code) << 16U)) << name;
    expect_of_models(commands, status, name);
  }
}

/// The reset comes in the midst of a program that asks for a line in every cycle: answers are on their way.
TEST_F(NpuVectorErrors, AnErrorBesideAProgramLeavesNothingBehind) {
  isa::TileCommand same = tiles();
  for (isa::VectorTile &t : same.tiles) {
    t.cols = 64;
    t.same_step = true;
  }
  isa::VectorCommand endless = vector();
  endless.elements = 64;
  endless.steps = 65535;
  isa::ProgramCommand illegal = program(words());
  illegal.count = 0;
  const std::vector<Decoded> commands{{program(words()), {}, 0}, {same, {}, 0}, {endless, {}, 0}, {illegal, {}, 0}};
  expect(commands, ErrorCode::ILLEGAL_FIELD, commands.size() - 1, "an error beside a program");
  device_->submit(SmallProgram::encode(all()));
  EXPECT_TRUE(device_->wait().ok());
}

TEST_F(NpuVectorErrors, AFaultWhileAllEnginesAreCrowded) {
  std::vector<Decoded> commands = Crowd().commands(config_);
  commands.push_back({vector(), {}, 0}); // no slot is described
  expect(commands, ErrorCode::VECTOR_FAULT, commands.size() - 1, "behind full queues");

  // The fault waits until the unit's own queue is full: the post is behind it.
  commands = {{vector(), {}, 0}};
  commands.back().sync.waits[0] = {7, 1};
  for (std::uint32_t i = 1; i < config_.queue_depth; ++i)
    commands.push_back(Crowd::sync(kUnit, Crowd::kNeverPosted));
  commands.push_back({Crowd::transfer(false, Crowd::kLoadAddr, 64, 0), {}, 0}); // long enough for the next one to come
  commands.back().sync.posts[0] = 7;
  commands.push_back(Crowd::sync(kUnit, Crowd::kNeverPosted)); // takes the place that the VECTOR leaves
  expect(commands, ErrorCode::VECTOR_FAULT, 0, "with a full queue behind it");
}

} // namespace
} // namespace gradweave::tb
