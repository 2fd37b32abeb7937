#include "analyze/facts/source_lines.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyze/facts/op_paths.h"
#include "core/base/strings.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

using Candidates = std::vector<const Instruction*>;

// ---- the names of forward ops

// "gelu" for aten__gelu and aten__gelu_backward of PyTorch: the name of the function. Empty for other names.
std::string TorchFunction(std::string_view type) {
  constexpr std::string_view kPrefix = "aten__", kBackward = "_backward", kData = "_data";
  if (!type.starts_with(kPrefix)) return "";
  type.remove_prefix(kPrefix.size());
  while (type.starts_with('_')) type.remove_prefix(1);
  if (type.ends_with(kData)) type.remove_suffix(kData.size());
  std::string name(type);
  if (const size_t at = name.find(kBackward); at != std::string::npos) name.erase(at, kBackward.size());
  return name == "threshold" ? "relu" : name;  // relu's gradient has the name of the more general function
}

bool IsTorchBackward(std::string_view type) { return type.starts_with("aten__") && type.find("_backward") != std::string_view::npos; }

// ---- the operands

// The values that the instruction uses, whatever their form, without constants.
std::set<const Instruction*> UsedValues(const Instruction& hlo) {
  constexpr Forwarding kAnyForm = Forwarding::kSame | Forwarding::kBitcast | Forwarding::kReshaped |
                                  Forwarding::kRearranged | Forwarding::kCopied | Forwarding::kConverted;
  std::set<const Instruction*> used;
  for (const Instruction* operand : hlo.operands) {
    const Instruction* value = DefiningValue({operand, {}}, kAnyForm).hlo;
    if (!IsConstant(*value)) used.insert(value);
  }
  return used;
}

// Instructions with a line that have a name in common; `first` stands for all if they have the same line.
struct Group {
  const Instruction* first = nullptr;
  int32_t line = 0;
  bool agrees = true;
  void Add(const Instruction& hlo, int32_t its_line) {
    if (first == nullptr) {
      first = &hlo;
      line = its_line;
    }
    agrees &= line == its_line;
  }
};

// Finds the forward ops of one module.
class Search {
 public:
  Search(const Module& module, std::span<const std::string> own_packages,
         absl::flat_hash_map<const Instruction*, const Instruction*>& forward)
      : module_(module), own_packages_(own_packages), forward_(forward) {}

  void Run() {
    for (const Computation* computation : module_.computations)
      for (const Instruction* hlo : computation->instructions) Add(*hlo);
    if (lines_.empty() || missing_.empty()) return;
    for (const Instruction* hlo : located_) AddUses(*hlo);
    for (const Instruction* hlo : missing_)
      if (const Instruction* found = NamedForward(*hlo)) forward_[hlo] = found;
    for (const Instruction* hlo : missing_)
      if (IsContraction(*hlo)) AddUses(*hlo);
    // A product of the backward pass multiplies by an operand of the forward product, or by the same gradient as a
    // product whose forward op is known; so does the sum that is the gradient of a bias.
    for (const bool with_backward : {false, true})
      for (const Instruction* hlo : missing_)
        if (!forward_.contains(hlo) && (IsContraction(*hlo) || (with_backward && IsReduce(*hlo))))
          if (const Instruction* found = ForwardProduct(*hlo, with_backward)) forward_[hlo] = found;
  }

 private:
  void Add(const Instruction& hlo) {
    const Metadata* metadata = hlo[kMetadata];
    if (metadata == nullptr || (metadata->op_name.empty() && metadata->op_type.empty())) return;
    const std::string location = SourceLocationOf(hlo, module_, own_packages_);
    if (location.empty()) {
      if (!IsParameter(hlo) && !IsConstant(hlo)) missing_.push_back(&hlo);
      return;
    }
    const int32_t line = line_ids_.try_emplace(location, static_cast<int32_t>(line_ids_.size())).first->second;
    lines_[&hlo] = line;
    located_.push_back(&hlo);
    groups_[KeyOfName(metadata->op_name)].Add(hlo, line);
    groups_[KeyOfScope(WithoutLastPart(metadata->op_name))].Add(hlo, line);
    if (!IsTorchBackward(metadata->op_type)) groups_[KeyOfFunction(TorchFunction(metadata->op_type))].Add(hlo, line);
  }

  static std::string KeyOfName(std::string_view name) { return StrCat("name ", name); }
  static std::string KeyOfScope(std::string_view scope) { return StrCat("scope ", scope); }
  static std::string KeyOfFunction(std::string_view function) { return StrCat("function ", function); }
  static bool HasKey(const Instruction& hlo, const std::string& key) {
    const Metadata& metadata = *hlo[kMetadata];
    return key == KeyOfName(metadata.op_name) || key == KeyOfScope(WithoutLastPart(metadata.op_name)) ||
           key == KeyOfFunction(TorchFunction(metadata.op_type));
  }

  void AddUses(const Instruction& hlo) {
    for (const Instruction* value : UsedValues(hlo)) users_[value].push_back(&hlo);
  }

  const Instruction* NamedForward(const Instruction& hlo) const {
    const Metadata& metadata = *hlo[kMetadata];
    std::vector<std::string> keys;
    if (IsTorchBackward(metadata.op_type)) keys.push_back(KeyOfFunction(TorchFunction(metadata.op_type)));
    const std::string name = ForwardOpName(metadata.op_name);
    for (std::string_view rest = name; !rest.empty(); rest = WithoutLastPart(rest)) {
      keys.push_back(KeyOfName(rest));
      keys.push_back(KeyOfScope(rest));
    }
    for (const std::string& key : keys) {
      auto group = groups_.find(key);
      if (group == groups_.end()) continue;
      if (group->second.agrees) return group->second.first;
      return Sharing(hlo, [&](const Instruction& user) { return HasKey(user, key) && !IsTorchBackward(user[kMetadata]->op_type); });
    }
    return nullptr;
  }

  const Instruction* ForwardProduct(const Instruction& hlo, bool with_backward) const {
    const auto is_located = [&](const Instruction& user) { return lines_.contains(&user) && IsContraction(user); };
    if (IsContraction(hlo))
      if (const Instruction* one = Sharing(hlo, is_located)) return one;
    if (!with_backward) return nullptr;
    return Sharing(hlo, [&](const Instruction& user) {
      auto known = forward_.find(&user);
      return known != forward_.end() && IsContraction(user) && IsContraction(*known->second);
    });
  }

  // The forward op among the users of the operands of `hlo` that `is_candidate` accepts; null if they have several lines.
  template <class Predicate>
  const Instruction* Sharing(const Instruction& hlo, Predicate is_candidate) const {
    constexpr size_t kMaxUsers = 64;  // values with more users, such as a mask, tell nothing
    Group group;
    for (const Instruction* value : UsedValues(hlo)) {
      auto users = users_.find(value);
      if (users == users_.end() || users->second.size() > kMaxUsers) continue;
      for (const Instruction* user : users->second) {
        if (user == &hlo || user->parent != hlo.parent || !is_candidate(*user)) continue;
        auto known = forward_.find(user);
        const Instruction* forward = known == forward_.end() ? user : known->second;
        group.Add(*forward, lines_.at(forward));
      }
    }
    return group.agrees ? group.first : nullptr;
  }

  const Module& module_;
  const std::span<const std::string> own_packages_;
  absl::flat_hash_map<const Instruction*, const Instruction*>& forward_;
  std::map<std::string, int32_t> line_ids_;
  absl::flat_hash_map<const Instruction*, int32_t> lines_;
  std::map<std::string, Group> groups_;
  absl::flat_hash_map<const Instruction*, Candidates> users_;
  Candidates located_, missing_;
};

}  // namespace

SourceLines::SourceLines(const Module& module, std::span<const std::string> own_packages)
    : module_(module), own_packages_(own_packages) {
  Search(module, own_packages, forward_).Run();
}

const Instruction* SourceLines::ForwardOf(const Instruction& hlo) const {
  auto found = forward_.find(&hlo);
  return found == forward_.end() ? nullptr : found->second;
}

std::string SourceLines::Of(const Instruction& hlo) const {
  return ForwardOf(hlo) == nullptr ? LocationOf(hlo) : LocationOf(hlo) + kVia;
}

std::string SourceLines::LocationOf(const Instruction& hlo) const {
  const Instruction* forward = ForwardOf(hlo);
  return SourceLocationOf(forward == nullptr ? hlo : *forward, module_, own_packages_);
}

std::vector<SourceFrame> SourceLines::StackOf(const Instruction& hlo) const {
  const Instruction* forward = ForwardOf(hlo);
  return internal::StackOf(forward == nullptr ? hlo : *forward, module_);
}

}  // namespace shoal::internal
