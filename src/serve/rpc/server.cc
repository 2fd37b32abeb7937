#include "serve/rpc/server.h"

#include <algorithm>
#include <new>

#include "core/base/strings.h"
#include "core/base/threads.h"
#include "serve/rpc/message_json.h"

namespace shoal::internal {
namespace {

using nlohmann::json;

bool IsValidId(const json& id) { return id.is_string() || id.is_number_integer(); }

}  // namespace

RpcServer::RpcServer(int in, int out, Framing framing) : reader_(in, framing), writer_(out, framing) {
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 2u, 4u);
  for (unsigned i = 0; i < count; ++i)
    if (std::optional<std::jthread> worker = StartThread([this] { Work(); })) workers_.push_back(std::move(*worker));
  if (workers_.empty()) throw std::bad_alloc();
}

RpcServer::~RpcServer() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    tasks_.clear();
    for (auto& [id, stop] : in_flight_) stop.request_stop();
    changed_.notify_all();
  }
  workers_.clear();  // joins them
}

void RpcServer::SetCancelMethod(std::string method, std::string id_key) {
  cancel_id_key_ = std::move(id_key);
  Notification(method, [this](json& params) { Cancel(params); });
}

void RpcServer::Cancel(const json& params) {
  if (!params.is_object() || !params.contains(cancel_id_key_)) return;
  std::stop_source stop(std::nostopstate);
  {
    std::lock_guard lock(mutex_);
    if (auto found = in_flight_.find(WriteJson(params[cancel_id_key_])); found != in_flight_.end()) stop = found->second;
  }
  stop.request_stop();  // runs callbacks, so not under the lock
}

void RpcServer::Notify(const std::string& method, json params) {
  writer_.Send(WriteJson({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
}

void RpcServer::Ask(const std::string& method, json params) {
  writer_.Send(WriteJson({{"jsonrpc", "2.0"},
                          {"id", StrCat("shoal-", next_ask_++)},
                          {"method", method},
                          {"params", std::move(params)}}));
}

void RpcServer::Reply(const json& id, const RpcReply& reply) {
  json message = {{"jsonrpc", "2.0"}, {"id", id}};
  if (const auto* error = std::get_if<RpcError>(&reply)) {
    message["error"] = {{"code", error->code}, {"message", error->message}};
    if (!error->data.is_null()) message["error"]["data"] = error->data;
  } else {
    message["result"] = std::get<json>(reply);
  }
  writer_.Send(WriteJson(message));
}

void RpcServer::Post(std::function<void()> task) {
  std::lock_guard lock(mutex_);
  if (closing_) return;
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void RpcServer::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !tasks_.empty() || closing_; });
    if (closing_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    task();
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

void RpcServer::Run() {
  while (!stopped_) {
    std::optional<MessageReader::Message> message = reader_.Next();
    if (!message) break;
    Handle(std::move(*message));
  }
  Drain();
}

void RpcServer::Drain() {
  constexpr auto kGrace = std::chrono::seconds(3);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kGrace, [&] { return tasks_.empty() && running_ == 0; });
}

void RpcServer::Handle(MessageReader::Message message) {
  if (!message.error.empty()) return Reply(nullptr, RpcError{RpcError::kParseError, message.error});
  Result<json> read = ReadJson(std::move(message.text));
  if (!read.ok()) return Reply(nullptr, RpcError{RpcError::kParseError, read.diag().message});
  json& call = *read;
  const bool has_method = call.is_object() && call.contains("method") && call["method"].is_string();
  const json id = call.is_object() && call.contains("id") ? call["id"] : json();
  if (!has_method) {
    // An answer to a request of the server needs no action.
    const bool is_answer = call.is_object() && (call.contains("result") || call.contains("error"));
    if (!is_answer) Reply(IsValidId(id) ? id : json(), RpcError{RpcError::kInvalidRequest, "the message has no method"});
    return;
  }
  const std::string method = call["method"];
  json& params = call["params"];
  if (params.is_null()) params = json::object();
  if (!call.contains("id")) {
    const auto handler = notifications_.find(method);
    const bool admitted = !admit_ || std::holds_alternative<std::monostate>(admit_(method));
    if (handler == notifications_.end() || !admitted) return;
    try {
      handler->second(params);
    } catch (const json::exception&) {
      // Parameters of a wrong type: a notification has no answer that could say so.
    }
    return;
  }
  if (!IsValidId(id)) return Reply(nullptr, RpcError{RpcError::kInvalidRequest, "the id must be a string or an integer"});
  HandleRequest(id, method, params);
}

void RpcServer::HandleRequest(const json& id, const std::string& method, const json& params) {
  if (admit_) {
    const auto admitted = admit_(method);
    if (const auto* error = std::get_if<RpcError>(&admitted)) return Reply(id, *error);
  }
  const auto handler = requests_.find(method);
  if (handler == requests_.end())
    return Reply(id, RpcError{RpcError::kMethodNotFound, StrCat("unknown method ", method)});
  std::stop_source stop;
  Call call{stop.get_token(), nullptr};
  if (params.is_object()) {
    if (params.contains("workDoneToken")) call.progress_token = params["workDoneToken"];
    if (params.contains("_meta") && params["_meta"].is_object() && params["_meta"].contains("progressToken"))
      call.progress_token = params["_meta"]["progressToken"];
  }
  const std::string key = WriteJson(id);
  {
    std::lock_guard lock(mutex_);
    if (in_flight_.size() >= kMaxInFlight || in_flight_.contains(key)) {
      const bool busy = in_flight_.size() >= kMaxInFlight;
      return Reply(id, busy ? RpcError{RpcError::kServerBusy, "too many requests are in flight"}
                            : RpcError{RpcError::kInvalidRequest, "a request with this id is in flight"});
    }
    in_flight_.emplace(key, std::move(stop));
  }
  Job job;
  try {
    job = handler->second(params);
  } catch (const std::exception& error) {  // nlohmann throws for parameters of a wrong type
    const std::string message = error.what();
    job = [message](const Call&) { return RpcReply(RpcError{RpcError::kInvalidParams, message}); };
  }
  Post([this, id, key, call = std::move(call), job = std::move(job)] {
    RpcReply reply = RpcError{RpcError::kRequestCancelled, "cancelled"};
    try {
      if (!call.is_cancelled()) reply = job(call);
      if (call.is_cancelled()) reply = RpcError{RpcError::kRequestCancelled, "cancelled"};
    } catch (const std::bad_alloc&) {
      reply = RpcError{RpcError::kRequestFailed, "not enough memory"};
    } catch (const std::exception& error) {
      reply = RpcError{RpcError::kInvalidParams, error.what()};
    }
    {
      std::lock_guard lock(mutex_);
      in_flight_.erase(key);
    }
    Reply(id, reply);
  });
}

}  // namespace shoal::internal
