// Reads the text form of commands.
#include "isa/assembler.hpp"

#include "isa/text_line.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gradweave::isa {

namespace {

/// Reads the element type behind the mnemonic: true for fp32.
bool parse_fp32(const Line &line) {
  const Token &where = line.tokens().size() > 1 ? line.tokens()[1] : line.tokens()[0];
  if (where.text != "fp32" && where.text != "bf16")
    line.fail(where,
              fmt::format("'{}' is no element type; write fp32 or bf16 after {}", where.text, line.tokens()[0].text));
  return where.text == "fp32";
}

Sync parse_sync(const Line &line, Arguments &args) {
  Sync sync;
  if (const Token *t = args.optional("wait")) {
    const std::vector<Token> waits = Line::split(*t, ',');
    if (waits.size() > sync.waits.size()) line.fail(*t, fmt::format("{} waits; a command has 3 at most", waits.size()));
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].text == "-") continue;
      const std::vector<Token> parts = Line::split(waits[i], ':');
      if (parts.size() != 2)
        line.fail(waits[i], fmt::format("'{}' is no wait; write SEMAPHORE:COUNT or -", waits[i].text));
      sync.waits[i].semaphore = static_cast<std::uint8_t>(args.value(parts[0], field::WAIT0_SEM));
      sync.waits[i].count = static_cast<std::uint8_t>(args.value(parts[1], field::WAIT0_COUNT));
    }
  }
  if (const Token *t = args.optional("post")) {
    const std::vector<Token> posts = Line::split(*t, ',');
    if (posts.size() > sync.posts.size()) line.fail(*t, fmt::format("{} posts; a command has 3 at most", posts.size()));
    for (std::size_t i = 0; i < posts.size(); ++i)
      if (posts[i].text != "-") sync.posts[i] = static_cast<std::uint8_t>(args.value(posts[i], field::POST0));
  }
  return sync;
}

DmaCommand parse_dma(const Line &line, Arguments &args, bool store) {
  DmaCommand d;
  d.store = store;
  d.fp32 = parse_fp32(line);
  d.dram_addr = line.number(args.required("dram"), std::numeric_limits<std::uint64_t>::max(), "dram");
  d.rows = args.number("rows", field::ROWS);
  d.cols = args.number("cols", field::COLS);
  d.pitch = d.rows == 1 ? args.number_or("pitch", field::PITCH, 0) : args.number("pitch", field::PITCH);
  d.spm.row = args.number("spm", field::SPM_ROW);
  d.spm.pstride = args.number_or("pstride", field::SPM_PSTRIDE, 0);
  d.spm.rot = static_cast<Lane>(args.number_or("rot", field::SPM_ROT, 0));
  return d;
}

std::uint8_t parse_core(const Line &line, Arguments &args) {
  const Token *t = args.optional("core");
  return t == nullptr ? std::uint8_t{0} : static_cast<std::uint8_t>(line.number(*t, 253, "core"));
}

/// What all products have; A is the caller's.
GemmCommand parse_product(const Line &line, Arguments &args) {
  GemmCommand g;
  g.out_bf16 = !parse_fp32(line);
  g.core = parse_core(line, args);
  g.m = args.number("m", field::M);
  g.n = args.number("n", field::N);
  g.k = args.number("k", field::K);
  g.b = args.walked_tile(args.required("b"), g.b_col);
  if (const Token *t = args.optional("cin")) {
    g.acc = true;
    g.cin = args.tile(*t);
  }
  g.cout = args.tile(args.required("cout"));
  return g;
}

GemmCommand parse_gemm(const Line &line, Arguments &args) {
  GemmCommand g = parse_product(line, args);
  g.a = args.walked_tile(args.required("a"), g.a_col);
  return g;
}

ConvCommand parse_conv(const Line &line, Arguments &args, bool weights) {
  ConvCommand v;
  v.weights = weights;
  v.product = parse_product(line, args);
  v.product.a_col = !weights;
  v.product.a = args.tile(args.required("a"));
  ImageWalk &i = v.image;
  const auto size = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
  const auto image = args.numbers("image", {field::IMG_H, field::IMG_W}, "HEIGHT:WIDTH");
  const auto grid = args.numbers("grid", {field::GRID_H, field::GRID_W, field::GRID_Y}, "ROWS:LINES:FIRST_ROW");
  const auto off = args.numbers("off", {field::OFF_Y, field::OFF_X}, "ROWS:COLUMNS", true);
  i.img_h = size(image[0]);
  i.img_w = size(image[1]);
  i.grid_h = size(grid[0]);
  i.grid_w = size(grid[1]);
  i.grid_y = size(grid[2]);
  i.off_y = off[0];
  i.off_x = off[1];
  if (weights) {
    const auto out = args.numbers("out", {field::OUT_H, field::OUT_W}, "HEIGHT:WIDTH");
    i.out_h = size(out[0]);
    i.out_w = size(out[1]);
    return v;
  }
  const auto taps = args.numbers("taps", {field::TAPS_Y, field::TAPS_X}, "ROWS:COLUMNS");
  const auto step = args.numbers("step", {field::STEP_Y, field::STEP_X}, "ROWS:COLUMNS", true);
  i.taps_y = size(taps[0]);
  i.taps_x = size(taps[1]);
  i.step_y = step[0];
  i.step_x = step[1];
  i.stride = args.number("stride", field::STRIDE);
  i.plane = args.number_or("plane", field::PLANE, 0);
  i.packed = args.number_or("packed", field::PACKED, 0) != 0;
  i.b_tap = args.number("btap", field::B_TAP);
  return v;
}

AddCommand parse_add(const Line &line, Arguments &args) {
  AddCommand a;
  a.out_bf16 = !parse_fp32(line);
  a.core = parse_core(line, args);
  a.m = args.number("m", field::M);
  a.n = args.number("n", field::N);
  a.a = args.tile(args.required("a"));
  a.cin = args.tile(args.required("cin"));
  a.cout = args.tile(args.required("cout"));
  return a;
}

ProgramCommand parse_program(const Line &line, Arguments &args) {
  ProgramCommand p;
  p.unit = parse_core(line, args);
  p.at = args.number("at", field::AT);
  if (const Token *t = args.optional("words")) {
    const std::vector<Token> words = Line::split(*t, ',');
    if (words.size() > p.words.size())
      line.fail(*t, fmt::format("{} words; a PROGRAM has {} at most", words.size(), p.words.size()));
    for (const Token &word : words)
      p.words[p.count++] = line.number(word, std::numeric_limits<std::uint64_t>::max(), "word");
  }
  return p;
}

/// "fp32:row:ROW:PSTRIDE:ROT:ROWSxCOLS+COL", and what of it is repeated.
VectorTile parse_vector_tile(const Line &line, Arguments &args, const Token &key, const Token &value) {
  constexpr std::string_view kForm =
      "fp32|bf16:row|col:ROW:PSTRIDE:ROT:ROWSxCOLS+FIRST_COL, and :element0 or :step0 for what is repeated";
  const auto refuse = [&]() { line.fail(value, fmt::format("'{}' is no tile; write {}", value.text, kForm)); };
  VectorTile t;
  const std::uint32_t number = static_cast<std::uint32_t>(key.text[1] - '0');
  const bool result = key.text[0] == 'o';
  if (number >= (result ? kSlots - kOperandSlots : kOperandSlots))
    line.fail(key, fmt::format("there is no slot {}; use t0 to t{} and o0 to o{}", key.text, kOperandSlots - 1,
                               kSlots - kOperandSlots - 1));
  t.slot = number + (result ? kOperandSlots : 0);
  const std::vector<Token> parts = Line::split(value, ':');
  if (parts.size() < 6 || (parts[0].text != "fp32" && parts[0].text != "bf16") ||
      (parts[1].text != "row" && parts[1].text != "col"))
    refuse();
  t.fp32 = parts[0].text == "fp32";
  t.by_col = parts[1].text == "col";
  t.spm = args.tile(value, {parts[2], parts[3], parts[4]}, kForm);
  const std::vector<Token> shape = Line::split(parts[5], '+'), size = Line::split(shape.front(), 'x');
  if (shape.size() != 2 || size.size() != 2) refuse();
  t.rows = args.value(size[0], field::T0_ROWS);
  t.cols = args.value(size[1], field::T0_COLS);
  t.col = args.value(shape[1], field::T0_COL);
  for (std::size_t i = 6; i < parts.size(); ++i)
    if (parts[i].text == "element0") {
      t.same_element = true;
    } else if (parts[i].text == "step0") {
      t.same_step = true;
    } else {
      refuse();
    }
  return t;
}

TileCommand parse_tiles(const Line &line, Arguments &args) {
  TileCommand t;
  t.unit = parse_core(line, args);
  std::size_t count = 0;
  for (const auto &[key, value] : args.numbered("to")) {
    if (count == t.tiles.size()) line.fail(key, fmt::format("a TILE describes {} tiles at most", t.tiles.size()));
    t.tiles[count++] = parse_vector_tile(line, args, key, value);
  }
  return t;
}

VectorCommand parse_vector(const Line &line, Arguments &args) {
  VectorCommand v;
  v.unit = parse_core(line, args);
  v.first = args.number("first", field::FIRST);
  v.elements = args.number("elements", field::ELEMENTS);
  v.steps = args.number("steps", field::STEPS);
  return v;
}

SyncCommand parse_sync_command(const Line &line, Arguments &args) {
  if (line.tokens().front().text == "MARK") return {static_cast<std::uint8_t>(Engine::STORE), true};
  const Token &t = args.required("engine");
  constexpr std::string_view kCompute = "compute", kVector = "vector";
  const auto compute0 = static_cast<std::uint8_t>(Engine::COMPUTE0);
  const auto vector0 = static_cast<std::uint8_t>(Engine::VECTOR0);
  if (t.text == "load") return {static_cast<std::uint8_t>(Engine::LOAD)};
  if (t.text == "store") return {static_cast<std::uint8_t>(Engine::STORE)};
  if (t.text.substr(0, kCompute.size()) == kCompute) {
    const Token core{t.text.substr(kCompute.size()), t.column + kCompute.size()};
    return {static_cast<std::uint8_t>(compute0 + line.number(core, 255U - compute0, "core"))};
  }
  if (t.text.substr(0, kVector.size()) == kVector) {
    const Token core{t.text.substr(kVector.size()), t.column + kVector.size()};
    return {static_cast<std::uint8_t>(vector0 + line.number(core, 255U - vector0, "core"))};
  }
  return {static_cast<std::uint8_t>(args.value(t, field::ENGINE))};
}

Command parse_raw(const Line &line) {
  if (line.tokens().size() != kCommandWords + 1)
    line.fail(line.tokens().front(),
              fmt::format("RAW has {} words; write {}", line.tokens().size() - 1, kCommandWords));
  Command c;
  for (std::size_t i = 0; i < kCommandWords; ++i)
    c.words[i] = static_cast<std::uint32_t>(
        line.number(line.tokens()[i + 1], std::numeric_limits<std::uint32_t>::max(), fmt::format("word {}", i)));
  return c;
}

Command parse_line(const Line &line) {
  const Token &mnemonic = line.tokens().front();
  if (mnemonic.text == "RAW") return parse_raw(line);
  constexpr std::array<std::string_view, 6> kTyped{"LOAD", "STORE", "GEMM", "ADD", "CONV", "WGRAD"};
  const bool typed = std::find(kTyped.begin(), kTyped.end(), mnemonic.text) != kTyped.end();
  constexpr std::array<std::string_view, 5> kOthers{"SYNC", "MARK", "PROGRAM", "TILE", "VECTOR"};
  if (!typed && std::find(kOthers.begin(), kOthers.end(), mnemonic.text) == kOthers.end())
    line.fail(mnemonic, fmt::format("unknown command '{}'; use {}, {} or RAW", mnemonic.text, fmt::join(kTyped, ", "),
                                    fmt::join(kOthers, ", ")));
  if (typed) parse_fp32(line); // before its place is taken for a key
  Arguments args(line, typed ? 2 : 1);
  Decoded d;
  if (mnemonic.text == "GEMM") {
    d.op = parse_gemm(line, args);
  } else if (mnemonic.text == "ADD") {
    d.op = parse_add(line, args);
  } else if (mnemonic.text == "CONV" || mnemonic.text == "WGRAD") {
    d.op = parse_conv(line, args, mnemonic.text == "WGRAD");
  } else if (typed) {
    d.op = parse_dma(line, args, mnemonic.text == "STORE");
  } else if (mnemonic.text == "PROGRAM") {
    d.op = parse_program(line, args);
  } else if (mnemonic.text == "TILE") {
    d.op = parse_tiles(line, args);
  } else if (mnemonic.text == "VECTOR") {
    d.op = parse_vector(line, args);
  } else {
    d.op = parse_sync_command(line, args);
  }
  d.sync = parse_sync(line, args);
  d.tag = static_cast<std::uint16_t>(args.number_or("tag", field::TAG, 0));
  args.reject_unused();
  return encode(d);
}

} // namespace

std::vector<Command> assemble(std::string_view text, std::string_view name) {
  std::vector<Command> commands;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Line line(name, ++number, text.substr(0, end));
    if (!line.tokens().empty()) commands.push_back(parse_line(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return commands;
}

} // namespace gradweave::isa
