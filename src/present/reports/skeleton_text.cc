#include "present/reports/skeleton_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/facts/source_lines.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

using ItemKind = SkeletonItem::Kind;

constexpr int64_t kMaxDepth = 200;
constexpr int64_t kShortBlock = 4;   // blocks of at most this many lines are always shown in full
constexpr int kMaxShownInFull = 2;  // how often a longer block is shown in full before it is only counted

enum Cell : uint8_t { kHead, kName, kType, kSize, kGroups, kOpName, kSource, kCells };

std::vector<Column> Columns() {
  return {Column("", ElideMode::kRight, 6, 20).MaxWidth(48),
          Column("name", ElideMode::kMiddle, 4).MaxWidth(40),
          Column("type", ElideMode::kRight, 3).MaxWidth(44).Droppable(),
          Column(">size").MaxWidth(14),
          Column("groups", ElideMode::kRight, 5, 13).MaxWidth(30),
          Column("op_name", ElideMode::kPath, 1, 14).MaxWidth(70).Faint().Droppable(),
          Column("source", ElideMode::kPath, 2).MaxWidth(60).Faint()};
}

std::string ShapeText(const Shape& shape) {
  if (!shape.IsTuple() || shape.elements().size() <= 2) return ToString(shape);
  return StrCat("(", ShapeText(shape.element(0)), ", … ", shape.elements().size() - 1, " more)");
}

// The flops of an arithmetic op; the memory traffic of any other op.
std::string Work(const Cost& cost, bool is_arithmetic) {
  if (!is_arithmetic || cost.flops <= 0) return cost.bytes() > 0 ? FormatBytes(cost.bytes()) : "";
  const std::string text = FormatSi(cost.flops);
  return text.find(' ') == std::string::npos ? text + " flop" : text + "flop";
}

// "7 dynamic-slice, reduce, …": the most frequent kinds.
std::string MostFrequent(const std::map<std::string, int64_t>& kinds) {
  constexpr size_t kMax = 2;
  std::vector<std::pair<std::string, int64_t>> sorted(kinds.begin(), kinds.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const bool more = sorted.size() > kMax;
  if (more) sorted.resize(kMax);
  return StrJoin(sorted, ", ",
                 [](std::string* out, const auto& kind) {
                   StrAppend(out, kind.second > 1 ? StrCat(kind.second, " ") : std::string(), kind.first);
                 }) +
         (more ? ", …" : "");
}

// Prints an integer exactly, a fraction with a few digits.
std::string Times(double times) {
  return times == std::floor(times) && times < 1e15 ? StrCat(static_cast<int64_t>(times)) : FormatSi(times);
}

class Writer {
  struct Line {
    int64_t depth = 0;
    LineColor color = LineColor::kPlain;
    std::vector<std::string> cells;
  };

 public:
  Writer(const ShownModule& shown, const SkeletonStyle& style) : shown_(shown), style_(style) {}

  std::string Text() {
    const SkeletonBlock& entry = shown_.skeleton.entry();
    Block(entry, 0);
    if (lines_.empty())
      return entry.hidden > 0 ? StrCat(Pluralize(entry.hidden, "small op"), " not shown; ", Setting("op=all"), " shows them\n") : "no computation\n";
    int64_t deepest = 1;
    for (const Line& line : lines_) deepest = std::max(deepest, line.depth);
    // Reduces the indentation if the tree is too deep for the width.
    const int64_t room = style_.text.width == 0 ? INT64_MAX : static_cast<int64_t>(style_.text.width / 3);
    const int64_t step = 2 * deepest <= room ? 2 : 1;
    Table table = Table::Tree(Columns());
    for (Line& line : lines_) {
      line.cells[kHead].insert(0, static_cast<size_t>(std::min(step * line.depth, room)), ' ');
      table.Add(std::move(line.cells), line.color);
    }
    return table.ToText(style_.text);
  }

 private:
  void Heading(int64_t depth, const std::string& text, LineColor color = LineColor::kControl) {
    lines_.push_back({depth, color, std::vector<std::string>(kCells)});
    lines_.back().cells[kHead] = text;
  }

  void Block(const SkeletonBlock& block, int64_t depth) {
    for (const SkeletonItem& item : block.items) Item(item, depth);
  }

  static std::string HiddenText(int64_t hidden) {
    return hidden > 0 ? StrCat(" … ", Pluralize(hidden, "small op")) : " pass";
  }

  // Prints a block under a heading that ends in a colon, or appends a summary of the block to the heading.
  void Nested(const SkeletonBlock& block, int64_t depth) {
    std::string& heading = lines_.back().cells[kHead];
    if (block.items.empty()) {
      heading += HiddenText(block.hidden);
    } else if ((style_.depth > 0 && depth >= style_.depth) || depth >= kMaxDepth) {
      heading += StrCat(" … ", Pluralize(block.lines, "line"));
    } else if (block.lines > kShortBlock && ++seen_[block.hash] > kMaxShownInFull) {
      heading += StrCat(" … ", Pluralize(block.lines, "line"), " as above");
    } else {
      Block(block, depth);
    }
  }

  void Item(const SkeletonItem& item, int64_t depth) {
    if (item.kind == ItemKind::kRepeat) {
      const SkeletonBlock& body = *item.blocks[0];
      const std::string times = StrCat(" × ", item.repeats);
      if (body.items.size() == 1 && body.items[0].kind == ItemKind::kMinor) return Minor(body.items[0], depth, times);
      if (body.items.size() == 1 && body.items[0].blocks.empty()) return Op(body.items[0], depth, times);
      Heading(depth, StrCat("× ", item.repeats, ":"));
      return Nested(body, depth + 1);
    }
    if (item.kind == ItemKind::kConditional) return Branches(item, depth);
    if (item.kind == ItemKind::kMinor) return Minor(item, depth, "");
    if (item.blocks.empty()) return Op(item, depth, "");
    std::string heading = StrCat(ItemLabel(item, shown_.facts.fusion_works()), ":");
    if (item.kind == ItemKind::kLoop) heading = StrCat("while i in ", LoopRange(shown_.facts.executions().TripCountOfLoop(*item.hlo)), ":");
    Heading(depth, heading);
    Fill(item, IsFusion(*item.hlo));
    Nested(*item.blocks[0], depth + 1);
  }

  void Branches(const SkeletonItem& item, int64_t depth) {
    const std::string_view by = item.hlo->operands.empty() ? "?" : item.hlo->operands[0]->name;
    const bool is_switch = item.blocks.size() != 2 || !HasPredicate(*item.hlo);
    int64_t items = 0, hidden = 0;
    for (const SkeletonBlock* block : item.blocks) {
      items += static_cast<int64_t>(block->items.size());
      hidden += block->hidden;
    }
    const bool empty = items == 0;
    if (is_switch || empty) {
      Heading(depth, StrCat(is_switch ? "switch " : "if ", by, ":", empty ? HiddenText(hidden) : ""));
      Fill(item, false);
    }
    if (empty) return;
    for (size_t i = 0; i < item.blocks.size(); ++i) {
      const bool nothing = item.blocks[i]->items.empty() && item.blocks[i]->hidden == 0;
      if (!is_switch && i > 0 && nothing) continue;
      Heading(is_switch ? depth + 1 : depth, is_switch ? StrCat("case ", i, ":")
                                             : i == 0  ? StrCat("if ", by, ":")
                                                       : "else:");
      if (!is_switch && i == 0) Fill(item, false);
      Nested(*item.blocks[i], is_switch ? depth + 2 : depth + 1);
    }
  }

  void Op(const SkeletonItem& item, int64_t depth, const std::string& suffix) {
    const bool communicates =
        item.collective != nullptr || OpCategoryOf(*item.hlo, shown_.facts.fusion_works()) == OpCategory::kCommunication;
    Heading(depth, ItemLabel(item, shown_.facts.fusion_works()) + suffix,
            item.kind == ItemKind::kDone ? LineColor::kFaint
            : communicates           ? LineColor::kCommunication
                                     : LineColor::kPlain);
    Fill(item, true);
  }

  // "5 minor fusions: 3 elementwise, reduce, transpose", with their memory traffic.
  void Minor(const SkeletonItem& item, int64_t depth, const std::string& suffix) {
    const FusionWorks& works = shown_.facts.fusion_works();
    std::map<std::string, int64_t> kinds;
    int64_t count = 0;
    double bytes = 0;
    for (const SkeletonItem& fusion : item.blocks[0]->items) {
      ++count;
      const Instruction& hlo = Unwrapped(*fusion.hlo);
      ++kinds[works.Of(hlo).main];
      if (auto cost = shown_.totals.cost_of.find(&hlo); cost != shown_.totals.cost_of.end())
        bytes += cost->second.bytes();
    }
    Heading(depth, StrCat(Pluralize(count, "minor fusion"), ": ", MostFrequent(kinds), suffix), LineColor::kFaint);
    lines_.back().cells[kSize] = FormatBytes(bytes);
  }

  // Fills the columns after the heading.
  void Fill(const SkeletonItem& item, bool typed) {
    const Instruction& hlo = *item.hlo;
    std::vector<std::string>& cells = lines_.back().cells;
    if (style_.names) cells[kName] = hlo.name;
    if (typed) cells[kType] = ShapeText(ItemShape(item));
    if (item.kind == ItemKind::kDone) return;
    if (item.collective != nullptr) {
      cells[kSize] = FormatBytes(static_cast<double>(item.collective->payload_bytes));
      cells[kGroups] = style_.groups_as_written ? GroupsAsWritten(*item.collective->hlo) : item.collective->axis();
    } else if (auto cost = shown_.totals.cost_of.find(&Unwrapped(hlo)); cost != shown_.totals.cost_of.end()) {
      cells[kSize] = Work(cost->second, IsArithmetic(Unwrapped(hlo), shown_.facts.fusion_works()));
    }
    const Instruction& source = item.collective != nullptr ? *item.collective->hlo : hlo;
    const Metadata* metadata = source[kMetadata];
    if (metadata == nullptr) metadata = hlo[kMetadata];
    if (metadata == nullptr) return;
    cells[kOpName] =
        item.op_name.empty() ? std::string(OpNameOf(metadata == source[kMetadata] ? source : hlo)) : item.op_name;
    const Instruction& located = metadata == source[kMetadata] ? source : hlo;
    cells[kSource] = shown_.facts.sources().Of(located);
    if (style_.stack) Stack(shown_.facts.sources().StackOf(located), lines_.back().depth);
  }

  // One line for each frame, innermost first, below the line of the op.
  void Stack(const std::vector<SourceFrame>& stack, int64_t depth) {
    for (const SourceFrame& frame : stack)
      Heading(depth + 1, StrCat("at ", FormatCall(frame)), LineColor::kFaint);
  }

  const ShownModule& shown_;
  const SkeletonStyle& style_;
  std::vector<Line> lines_;
  absl::flat_hash_map<uint64_t, int> seen_;  // number of times that each block was shown
};

std::string TotalsText(const StepTotals& totals, const TextStyle& style) {
  const auto any = [&](double KindTotal::*metric) {
    return std::any_of(totals.kinds.begin(), totals.kinds.end(),
                       [&](const KindTotal& kind) { return kind.*metric > 0; });
  };
  std::vector<std::pair<std::string, double KindTotal::*>> metrics;
  if (any(&KindTotal::payload_bytes)) metrics.push_back({">payload", &KindTotal::payload_bytes});
  if (any(&KindTotal::memory_bytes)) metrics.push_back({">memory", &KindTotal::memory_bytes});
  if (any(&KindTotal::flops)) metrics.push_back({">flops", &KindTotal::flops});
  std::vector<Column> columns{">count", {"op", ElideMode::kMiddle, 1}};
  for (const auto& [column, metric] : metrics) columns.emplace_back(column);
  Table table(std::move(columns));
  for (const KindTotal& kind : totals.kinds) {
    std::vector<std::string> row{Times(kind.times), kind.kind};
    for (const auto& [column, metric] : metrics)
      row.push_back(kind.*metric <= 0 ? "" : metric == &KindTotal::flops ? FormatSi(kind.*metric) : FormatBytes(kind.*metric));
    table.Add(std::move(row));
  }
  return table.empty() ? std::string() : "\nper step, on each device:\n" + table.ToText(style);
}

}  // namespace

std::string LoopRange(const TripCount& trips) {
  if (!trips.known()) return "range(?)";
  const TripCount::Counter counter = trips.counter.value_or(TripCount::Counter{});
  int64_t distance = 0, end = 0;
  const bool overflows = __builtin_mul_overflow(trips.count, counter.step, &distance) ||
                   __builtin_add_overflow(counter.start, distance, &end) || counter.step == 0;
  if (overflows || (counter.start == 0 && counter.step == 1)) return StrCat("range(", trips.count, ")");
  if (counter.step == 1) return StrCat("range(", counter.start, ", ", end, ")");
  return StrCat("range(", counter.start, ", ", end, ", ", counter.step, ")");
}

std::string ItemLabel(const SkeletonItem& item, const FusionWorks& works) {
  const Instruction& hlo = Unwrapped(*item.hlo);
  std::string label = item.collective != nullptr ? std::string(Text(item.collective->kind)) : LabelOf(hlo, works);
  if (IsCall(hlo) && hlo[kToApply] != nullptr) StrAppend(&label, " ", hlo[kToApply]->name);
  if (item.is_async) return label + " (async)";
  if (&hlo == item.hlo && item.collective == nullptr) return label;  // the opcode already names the kind
  if (item.kind == ItemKind::kStart)
    label.insert(label.find_first_of(": ") == std::string::npos ? label.size() : label.find_first_of(": "), "-start");
  if (item.kind == ItemKind::kDone)
    label.insert(label.find_first_of(": ") == std::string::npos ? label.size() : label.find_first_of(": "), "-done");
  return label;
}

const Shape& ItemShape(const SkeletonItem& item) {
  const Instruction& hlo = Unwrapped(item.collective != nullptr ? *item.collective->hlo : *item.hlo);
  if (!hlo.shape().IsTuple() || hlo.shape().elements().empty()) return hlo.shape();
  if (item.collective != nullptr && item.collective->async() && item.collective->done->operands.size() == 1 &&
      item.collective->done->operands[0] == &hlo)
    return item.collective->done->shape();
  // The workspace of a library call is not a result.
  const bool has_workspace = IsCustomCall(hlo) && hlo.shape().elements().size() == 2 &&
                              hlo.shape().element(1).element_type() == ElementType::kS8 &&
                              IsCudaLibraryCall(hlo);
  if (IsAsyncCopy(hlo) || has_workspace) return hlo.shape().element(0);
  return hlo.shape();
}

std::string GroupsAsWritten(const Instruction& collective) {
  std::string text;
  if (const ReplicaGroups* groups = collective[kReplicaGroups]; groups != nullptr) {
    AppendReplicaGroups(text, *groups);
  } else if (const IntLists pairs = collective[kSourceTargetPairs]; !pairs.empty()) {
    text = "{" + StrJoin(pairs, ",", [](std::string* out, Ints pair) { *out += ToString(pair); }) + "}";
  }
  return text;
}

std::string SkeletonText(const ShownModule& shown, const SkeletonStyle& style) {
  return Writer(shown, style).Text() + TotalsText(shown.totals, style.text);
}

}  // namespace shoal::internal
