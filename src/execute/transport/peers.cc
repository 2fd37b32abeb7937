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
#include <random>
#include <sstream>

#include "core/base/strings.h"
#include "core/base/threads.h"

namespace shoal::internal {
namespace {

constexpr char kLeaves = 'q', kInterrupted = 'i';
constexpr size_t kCookieBytes = 32;

// State for signal handlers. It is atomic because a handler could interrupt any other write halfway.
constexpr size_t kMaxSockets = 4096;
std::atomic<int> open_sockets[kMaxSockets];
std::atomic<size_t> open_count = 0;
std::atomic<bool> is_interrupted = false;

void RegisterSocket(int socket) {
  const size_t i = open_count;
  if (i >= kMaxSockets) return;
  open_sockets[i] = socket;
  open_count = i + 1;
}

// Called when the peer has announced that it will leave.
void UnregisterSocket(int socket) {
  for (size_t i = 0; i < open_count; ++i)
    if (open_sockets[i] == socket) open_sockets[i] = -1;
}

// Detects unreachable machines by TCP keepalive: a probe after two idle seconds, then one every two seconds.
void KeepAlive(int socket) {
  const int on = 1, seconds = 2, probes = 3, milliseconds = 8000;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// All IPv4 addresses of this machine, loopback addresses last.
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
  auto* next = static_cast<char*>(bytes);
  while (size > 0) {
    pollfd waits{socket, POLLIN, 0};
    if (poll(&waits, 1, 2000) <= 0) return false;
    const ssize_t n = recv(socket, next, size, 0);
    if (n <= 0) return false;
    next += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool WriteAll(int socket, const void* bytes, size_t size) {
  return send(socket, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

// Connects within two seconds and sends cookie and rank. Returns the socket, or -1 on failure.
int ConnectTo(const std::string& address, int port, const std::string& cookie, int rank) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  int failed = connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
  if (failed == EINPROGRESS) {
    pollfd waits{fd, POLLOUT, 0};
    socklen_t size = sizeof(failed);
    if (poll(&waits, 1, 2000) <= 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) != 0)
      failed = ETIMEDOUT;
  }
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  const int32_t number = rank;
  if (failed == 0 && WriteAll(fd, cookie.data(), kCookieBytes) && WriteAll(fd, &number, sizeof(number))) {
    KeepAlive(fd);
    return fd;
  }
  close(fd);
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
  if (sockets_[kFirst] >= 0) RegisterSocket(sockets_[kFirst]);
  return sockets_[kFirst] >= 0;
}

void PeerMonitor::Accept(int count) {
  while (count > 0) {
    pollfd waits{listening_, POLLIN, 0};
    if (poll(&waits, 1, 5000) <= 0) return;
    const int peer = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) return;
    char cookie[kCookieBytes];
    int32_t rank = -1;
    const bool is_valid = ReadAll(peer, cookie, sizeof(cookie)) &&
                          cookie_.compare(0, kCookieBytes, cookie, kCookieBytes) == 0 &&
                          ReadAll(peer, &rank, sizeof(rank)) && rank > 0 && rank < static_cast<int>(sockets_.size());
    if (!is_valid) {
      close(peer);
      continue;
    }
    KeepAlive(peer);
    sockets_[static_cast<size_t>(rank)] = peer;
    RegisterSocket(peer);
    --count;
  }
}

void PeerMonitor::Watch(std::function<void(int)> lost) {
  lost_ = std::move(lost);
  has_left_.resize(sockets_.size());
  was_interrupted_.resize(sockets_.size());
  if (pipe2(wake_, O_CLOEXEC) != 0) return;
  // Without the thread, the loss of a process is noticed only when this process exchanges data with it.
  if (std::optional<std::jthread> thread = StartThread([this] { WatchUntilLeft(); })) thread_ = std::move(*thread);
}

// Reads a notice from the peer. Returns false if the connection has ended.
bool PeerMonitor::ReadNotice(int peer) {
  char notice = 0;
  const ssize_t n = recv(sockets_[static_cast<size_t>(peer)], &notice, 1, 0);
  const auto index = static_cast<size_t>(peer);
  if (n == 1) {
    has_left_[index] = has_left_[index] || notice == kLeaves;
    UnregisterSocket(sockets_[index]);
    was_interrupted_[index] = was_interrupted_[index] || notice == kInterrupted;
    return true;
  }
  if (has_left_[index]) return false;
  // Only processes that were not interrupted themselves report the loss of an interrupted process.
  if (was_interrupted_[index]) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (!(was_interrupted_[index] && is_interrupted)) lost_(peer);
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
      if (waits[i + 1].revents != 0 && !ReadNotice(peers[i])) is_over[static_cast<size_t>(peers[i])] = true;
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

// The operating system closes a killed process's connections before its launcher notices and ends the other processes.
bool PeerMonitor::AnyPeerLost() {
  for (size_t i = 0; i < open_count; ++i) {
    char notice = 0;
    const int socket = open_sockets[i];
    const ssize_t n = socket < 0 ? 1 : recv(socket, &notice, 1, MSG_PEEK | MSG_DONTWAIT);
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
