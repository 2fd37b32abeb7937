#include "execute/transport/peers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <sstream>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr char kLeaves = 'q', kInterrupted = 'i';
constexpr size_t kCookieBytes = 32;

// For the handler of signals, which may read nothing that could be half-written.
constexpr size_t kMaxSaid = 4096;
std::atomic<int> open_sockets[kMaxSaid];
std::atomic<size_t> open_count = 0;
std::atomic<bool> is_interrupted = false;

void Remember(int socket) {
  const size_t i = open_count;
  if (i >= kMaxSaid) return;
  open_sockets[i] = socket;
  open_count = i + 1;
}

// It has said that it goes.
void Forget(int socket) {
  for (size_t i = 0; i < open_count; ++i)
    if (open_sockets[i] == socket) open_sockets[i] = -1;
}

// A machine that is gone answers no probe: two seconds without a word, then one every two seconds.
void KeepAlive(int socket) {
  const int on = 1, seconds = 2, probes = 3, milliseconds = 8000;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// Every IPv4 address of this machine, those that others can reach first.
std::vector<std::string> Addresses() {
  std::vector<std::string> all, loopback;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {"127.0.0.1"};
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text)) == nullptr) continue;
    (std::string_view(text).starts_with("127.") ? loopback : all).push_back(text);
  }
  freeifaddrs(list);
  all.insert(all.end(), loopback.begin(), loopback.end());
  return all;
}

bool ReadAll(int socket, void* bytes, size_t size) {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    pollfd waits{socket, POLLIN, 0};
    if (poll(&waits, 1, 2000) <= 0) return false;
    const ssize_t n = recv(socket, at, size, 0);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool WriteAll(int socket, const void* bytes, size_t size) {
  return send(socket, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

// Connected within two seconds, and the other end knows the cookie; else -1.
int ConnectTo(const std::string& address, int port, const std::string& cookie, int rank) {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  int failed = connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
  if (failed == EINPROGRESS) {
    pollfd waits{made, POLLOUT, 0};
    socklen_t size = sizeof(failed);
    if (poll(&waits, 1, 2000) <= 0 || getsockopt(made, SOL_SOCKET, SO_ERROR, &failed, &size) != 0) failed = ETIMEDOUT;
  }
  fcntl(made, F_SETFL, fcntl(made, F_GETFL) & ~O_NONBLOCK);
  const int32_t number = rank;
  if (failed == 0 && WriteAll(made, cookie.data(), kCookieBytes) && WriteAll(made, &number, sizeof(number))) {
    KeepAlive(made);
    return made;
  }
  close(made);
  return -1;
}

}  // namespace

PeerMonitor::~PeerMonitor() {
  Leave();
  for (int socket : sockets_)
    if (socket >= 0) close(socket);
  for (int end : wake_)
    if (end >= 0) close(end);
  if (listening_ >= 0) close(listening_);
}

std::string PeerMonitor::Listen() {
  listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof(any);
  auto* address = reinterpret_cast<sockaddr*>(&any);
  if (listening_ < 0 || bind(listening_, address, size) != 0 || listen(listening_, SOMAXCONN) != 0 ||
      getsockname(listening_, address, &size) != 0)
    return {};
  std::random_device random;
  while (cookie_.size() < kCookieBytes) cookie_ += "0123456789abcdef"[random() % 16];
  std::string text = StrCat(ntohs(any.sin_port), " ", cookie_);
  for (const std::string& each : Addresses()) StrAppend(&text, " ", each);
  return text;
}

bool PeerMonitor::Connect(const std::string& addresses) {
  std::istringstream text(addresses);
  int port = 0;
  text >> port >> cookie_;
  if (cookie_.size() != kCookieBytes) return false;
  for (std::string address; sockets_[kFirst] < 0 && text >> address;)
    sockets_[kFirst] = ConnectTo(address, port, cookie_, rank_);
  if (sockets_[kFirst] >= 0) Remember(sockets_[kFirst]);
  return sockets_[kFirst] >= 0;
}

void PeerMonitor::Accept(int count) {
  while (count > 0) {
    pollfd waits{listening_, POLLIN, 0};
    if (poll(&waits, 1, 5000) <= 0) return;
    const int made = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (made < 0) return;
    char cookie[kCookieBytes];
    int32_t rank = -1;
    const bool ours = ReadAll(made, cookie, sizeof(cookie)) && cookie_.compare(0, kCookieBytes, cookie, kCookieBytes) == 0 &&
                      ReadAll(made, &rank, sizeof(rank)) && rank > 0 && rank < static_cast<int>(sockets_.size());
    if (!ours) {
      close(made);
      continue;
    }
    KeepAlive(made);
    sockets_[static_cast<size_t>(rank)] = made;
    Remember(made);
    --count;
  }
}

void PeerMonitor::Watch(std::function<void(int)> lost) {
  lost_ = std::move(lost);
  has_left_.resize(sockets_.size());
  was_interrupted_.resize(sockets_.size());
  if (pipe2(wake_, O_CLOEXEC) != 0) return;
  thread_ = std::jthread([this] { WatchUntilLeft(); });
}

// False when nothing more will come.
bool PeerMonitor::Heard(int peer) {
  char word = 0;
  const ssize_t n = recv(sockets_[static_cast<size_t>(peer)], &word, 1, 0);
  const auto at = static_cast<size_t>(peer);
  if (n == 1) {
    has_left_[at] = has_left_[at] || word == kLeaves;
    Forget(sockets_[at]);
    was_interrupted_[at] = was_interrupted_[at] || word == kInterrupted;
    return true;
  }
  if (has_left_[at]) return false;
  // One that was told to end is missed only by those that were not.
  if (was_interrupted_[at]) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (!(was_interrupted_[at] && is_interrupted)) lost_(peer);
  return false;
}

void PeerMonitor::WatchUntilLeft() {
  pthread_setname_np(pthread_self(), "shoal peers");
  std::vector<bool> is_over(sockets_.size());
  while (true) {
    std::vector<pollfd> waits{{wake_[0], POLLIN, 0}};
    std::vector<int> peers;
    for (size_t peer = 0; peer < sockets_.size(); ++peer) {
      if (sockets_[peer] < 0 || is_over[peer]) continue;
      waits.push_back({sockets_[peer], POLLIN, 0});
      peers.push_back(static_cast<int>(peer));
    }
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    for (size_t i = 0; i < peers.size(); ++i)
      if (waits[i + 1].revents != 0 && !Heard(peers[i])) is_over[static_cast<size_t>(peers[i])] = true;
  }
}

void PeerMonitor::Leave() {
  if (!thread_.joinable()) return;
  open_count = 0;
  for (int socket : sockets_)
    if (socket >= 0) WriteAll(socket, &kLeaves, 1);
  if (write(wake_[1], &kLeaves, 1) < 0) return;
  thread_.join();
}

// The kernel closes the connections of a process that is killed before its launcher hears of it and ends the others.
bool PeerMonitor::AnyPeerLost() {
  for (size_t i = 0; i < open_count; ++i) {
    char word = 0;
    const int socket = open_sockets[i];
    const ssize_t n = socket < 0 ? 1 : recv(socket, &word, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return true;
  }
  return false;
}

void PeerMonitor::Interrupted() {
  is_interrupted = true;
  for (size_t i = 0; i < open_count; ++i)
    if (const int socket = open_sockets[i]; socket >= 0) send(socket, &kInterrupted, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace shoal::internal
