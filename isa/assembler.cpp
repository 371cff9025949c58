// Reads the text form of commands.
#include "isa/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace gradweave::isa {

namespace {

struct Token {
  std::string_view text;
  std::size_t column = 1;
};

/// One line being read; every error names its place.
class Line {
public:
  Line(std::string_view name, std::size_t number, std::string_view text) : name_(name), number_(number) {
    text = text.substr(0, text.find('#'));
    constexpr std::string_view kSpace = " \t\r";
    for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
      tokens_.push_back({text.substr(at, end - at), at + 1});
      at = text.find_first_not_of(kSpace, end);
    }
  }

  const std::vector<Token> &tokens() const { return tokens_; }

  [[noreturn]] void fail(const Token &where, const std::string &problem) const {
    throw AssemblyError(fmt::format("{}:{}:{}: {}", name_, number_, where.column, problem));
  }

  std::uint64_t number(const Token &t, std::uint64_t max, std::string_view what) const {
    const bool hex = t.text.substr(0, 2) == "0x" || t.text.substr(0, 2) == "0X";
    const std::string_view digits = hex ? t.text.substr(2) : t.text;
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (result.ec == std::errc::result_out_of_range || (result.ec == std::errc{} && value > max))
      fail(t, fmt::format("{} = {} is too large; use 0 to {}", what, t.text, max));
    if (result.ec != std::errc{} || result.ptr != digits.data() + digits.size())
      fail(t, fmt::format("'{}' is not a number for {}; use decimal or 0x hexadecimal digits", t.text, what));
    return value;
  }

  /// Splits "a:b:c" into its parts with their columns.
  static std::vector<Token> split(const Token &t, char separator) {
    std::vector<Token> parts;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= t.text.size(); ++i)
      if (i == t.text.size() || t.text[i] == separator) {
        parts.push_back({t.text.substr(start, i - start), t.column + start});
        start = i + 1;
      }
    return parts;
  }

private:
  std::string_view name_;
  std::size_t number_;
  std::vector<Token> tokens_;
};

/// The key=value arguments of a line; each key may be asked for once, and none may be left over.
class Arguments {
public:
  Arguments(const Line &line, std::size_t first) : line_(line) {
    for (std::size_t i = first; i < line.tokens().size(); ++i) {
      const Token &t = line.tokens()[i];
      const std::size_t eq = t.text.find('=');
      if (eq == std::string_view::npos || eq == 0)
        line.fail(t, fmt::format("'{}' is not key=value; write, for example, tag=1", t.text));
      const Token key{t.text.substr(0, eq), t.column};
      if (find(key.text) != nullptr) line.fail(t, fmt::format("'{}' is given twice; keep one", key.text));
      entries_.push_back({key, {t.text.substr(eq + 1), t.column + eq + 1}, false});
    }
  }

  const Token *optional(std::string_view key) {
    known_.emplace_back(key);
    Entry *e = find(key);
    if (e == nullptr) return nullptr;
    e->used = true;
    return &e->value;
  }

  const Token &required(std::string_view key) {
    const Token *t = optional(key);
    if (t == nullptr) line_.fail(line_.tokens().front(), fmt::format("{} is missing; add {}=...", key, key));
    return *t;
  }

  std::uint32_t number(std::string_view key, const Field &f) { return value(required(key), f); }
  std::uint32_t number_or(std::string_view key, const Field &f, std::uint32_t otherwise) {
    const Token *t = optional(key);
    return t == nullptr ? otherwise : value(*t, f);
  }
  /// Fields of the same meaning have the same width in every command, so the DMA's serve as the measure for all tiles.
  SpmTile tile(const Token &where, const std::vector<Token> &parts, std::string_view form) {
    if (parts.size() != 3) line_.fail(where, fmt::format("'{}' is no tile; write {}", where.text, form));
    SpmTile t;
    t.row = value(parts[0], field::SPM_ROW);
    t.pstride = value(parts[1], field::SPM_PSTRIDE);
    t.rot = static_cast<std::uint8_t>(value(parts[2], field::SPM_ROT));
    return t;
  }
  SpmTile tile(const Token &t) { return tile(t, Line::split(t, ':'), "ROW:PSTRIDE:ROT"); }
  SpmTile walked_tile(const Token &t, bool &by_columns) {
    constexpr std::string_view kForm = "row:ROW:PSTRIDE:ROT or col:ROW:PSTRIDE:ROT";
    std::vector<Token> parts = Line::split(t, ':');
    by_columns = parts.front().text == "col";
    if (!by_columns && parts.front().text != "row")
      line_.fail(t, fmt::format("'{}' names no walk; write {}", t.text, kForm));
    parts.erase(parts.begin());
    return tile(t, parts, kForm);
  }

  void reject_unused() const {
    for (const Entry &e : entries_)
      if (!e.used)
        line_.fail(e.key, fmt::format("unknown key '{}' of {}; known keys: {}", e.key.text, line_.tokens().front().text,
                                      fmt::join(known_, ", ")));
  }

  /// "A:B:C" as the values of so many fields; those of `signed_fields` may be negative.
  std::vector<std::int32_t> numbers(std::string_view key, const std::vector<Field> &fields, std::string_view form,
                                    bool signed_fields = false) {
    const Token &t = required(key);
    const std::vector<Token> parts = Line::split(t, ':');
    if (parts.size() != fields.size()) line_.fail(t, fmt::format("'{}' is no {}; write {}={}", t.text, key, key, form));
    std::vector<std::int32_t> values;
    for (std::size_t i = 0; i < parts.size(); ++i)
      values.push_back(signed_fields ? signed_value(parts[i], fields[i])
                                     : static_cast<std::int32_t>(value(parts[i], fields[i])));
    return values;
  }

  std::int32_t signed_value(const Token &t, const Field &f) const {
    const bool negative = t.text.substr(0, 1) == "-";
    const Token digits{t.text.substr(negative ? 1 : 0), t.column + (negative ? 1 : 0)};
    const std::uint64_t top = std::uint64_t{1} << (f.width - 1U);
    const auto size = static_cast<std::int32_t>(line_.number(digits, negative ? top : top - 1, f.name));
    return negative ? -size : size;
  }

  std::uint32_t value(const Token &t, const Field &f) const {
    return static_cast<std::uint32_t>(line_.number(t, (std::uint64_t{1} << f.width) - 1, f.name));
  }

private:
  struct Entry {
    Token key, value;
    bool used;
  };
  Entry *find(std::string_view key) {
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &e) { return e.key.text == key; });
    return it == entries_.end() ? nullptr : &*it;
  }

  const Line &line_;
  std::vector<Entry> entries_;
  std::vector<std::string> known_;
};

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
  d.spm.rot = static_cast<std::uint8_t>(args.number_or("rot", field::SPM_ROT, 0));
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

SyncCommand parse_sync_command(const Line &line, Arguments &args) {
  if (line.tokens().front().text == "MARK") return {static_cast<std::uint8_t>(Engine::STORE), true};
  const Token &t = args.required("engine");
  constexpr std::string_view kCompute = "compute";
  const auto compute0 = static_cast<std::uint8_t>(Engine::COMPUTE0);
  if (t.text == "load") return {static_cast<std::uint8_t>(Engine::LOAD)};
  if (t.text == "store") return {static_cast<std::uint8_t>(Engine::STORE)};
  if (t.text.substr(0, kCompute.size()) == kCompute) {
    const Token core{t.text.substr(kCompute.size()), t.column + kCompute.size()};
    return {static_cast<std::uint8_t>(compute0 + line.number(core, 255U - compute0, "core"))};
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
  if (!typed && mnemonic.text != "SYNC" && mnemonic.text != "MARK")
    line.fail(mnemonic,
              fmt::format("unknown command '{}'; use {}, SYNC, MARK or RAW", mnemonic.text, fmt::join(kTyped, ", ")));
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
