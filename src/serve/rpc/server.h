// JSON-RPC 2.0 over a channel: dispatch, several requests in flight, cancellation and progress. A request is prepared on
// the reading thread, in the order of arrival, and computed on a worker; answers leave in order of readiness.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "serve/rpc/channel.h"

namespace shoal::internal {

struct RpcError {
  // Codes of JSON-RPC and LSP.
  static constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                       kInvalidParams = -32602, kInternalError = -32603, kServerBusy = -32000,
                       kNotInitialized = -32002, kRequestFailed = -32803, kRequestCancelled = -32800;
  int code = kInternalError;
  std::string message;
  nlohmann::json data = nullptr;
};
using RpcReply = std::variant<nlohmann::json, RpcError>;

class RpcServer {
 public:
  // Passed to the job of a request.
  struct Call {
    std::stop_token stop;           // a requested stop: the client has cancelled the request
    nlohmann::json progress_token;  // null: the client wants no progress
    bool is_cancelled() const { return stop.stop_requested(); }
  };
  using Job = std::function<RpcReply(const Call&)>;
  // Runs on the reading thread, with the state that all earlier messages produced, and must be fast.
  using Prepare = std::function<Job(const nlohmann::json& params)>;
  // May move large strings out of the parameters.
  using OnNotification = std::function<void(nlohmann::json& params)>;
  // Decides whether a method may be called now; an error is the answer.
  using Admit = std::function<std::variant<std::monostate, RpcError>(const std::string& method)>;

  RpcServer(int in, int out, Framing framing);
  ~RpcServer();

  void Request(const std::string& method, Prepare prepare) { requests_[method] = std::move(prepare); }
  void Notification(const std::string& method, OnNotification handler) { notifications_[method] = std::move(handler); }
  void SetAdmission(Admit admit) { admit_ = std::move(admit); }
  void SetCancelMethod(std::string method, std::string id_key);

  // Sends a notification, or a request whose answer is ignored, to the client.
  void Notify(const std::string& method, nlohmann::json params);
  void Ask(const std::string& method, nlohmann::json params);
  // Runs a task on a worker.
  void Post(std::function<void()> task);

  // Reads until the end of the input or until Stop, then lets requests in flight end. Handlers may call Stop.
  void Run();
  void Stop() { stopped_ = true; }

 private:
  void Handle(MessageReader::Message message);
  void HandleRequest(const nlohmann::json& id, const std::string& method, const nlohmann::json& params);
  void Cancel(const nlohmann::json& params);
  void Reply(const nlohmann::json& id, const RpcReply& reply);
  void Work();
  void Drain();

  // Requests beyond this number are refused, so that a client cannot fill the memory with them.
  static constexpr size_t kMaxInFlight = 1000;

  MessageReader reader_;
  MessageWriter writer_;
  std::map<std::string, Prepare> requests_;
  std::map<std::string, OnNotification> notifications_;
  Admit admit_;
  std::string cancel_id_key_;
  std::atomic<bool> stopped_ = false;
  std::atomic<int64_t> next_ask_ = 1;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::map<std::string, std::stop_source> in_flight_;  // by id, as JSON text
  size_t running_ = 0;  // tasks that workers execute
  bool closing_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace shoal::internal
