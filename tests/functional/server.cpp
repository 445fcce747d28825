#include "tests/functional/server.h"

#include <gtest/gtest.h>

#include <csignal>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "tests/support/loopback.h"

namespace forge::functional {
namespace {

/// What stands between `begin` and the next blank or line break.
std::string word_after(const std::string& text, const std::string& begin) {
  const auto at = text.find(begin);
  if (at == std::string::npos) throw Error(ErrorCode::corrupt, "no '" + begin + "' in: " + text);
  return text.substr(at + begin.size(), text.find_first_of(" \n", at + begin.size()) - at - begin.size());
}

}  // namespace

EventReader::EventReader(int port, const std::string& request) : socket_(test::connect_to_loopback(port)) {
  write_all(socket_.get(), request, patience());
  const auto first = line();
  if (!first || first->size() < 12) throw Error(ErrorCode::unavailable, "no answer to a request for events");
  status_ = std::stoi(first->substr(9, 3));
  for (auto header = line(); header && !header->empty(); header = line()) continue;
}

std::optional<std::string> EventReader::line() {
  while (true) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      std::string found(trim(std::string_view(unread_).substr(0, end)));
      unread_.erase(0, end + 1);
      return found;
    }
    const std::string piece = read_some(socket_.get(), 64 << 10, patience());
    if (piece.empty()) return {};
    unread_ += piece;
  }
}

std::optional<ServerEvent> EventReader::next() {
  ServerEvent event;
  std::optional<std::string> data;
  for (auto text = line(); text; text = line()) {
    if (text->starts_with("id:")) event.id = std::stoll(text->substr(3));
    if (text->starts_with("event:")) event.name = trim(text->substr(6));
    if (text->starts_with("data:")) data = data.value_or("") + text->substr(5);
    if (!text->empty() || !data) continue;  // what has no data is no event
    event.data = nlohmann::json::parse(*data, nullptr, false);
    if (event.data.is_discarded()) event.data = nullptr;
    return event;
  }
  return {};
}

ServerEvent EventReader::until(const std::function<bool(const ServerEvent&)>& wanted) {
  while (const auto event = next())
    if (wanted(*event)) return *event;
  throw Error(ErrorCode::unavailable, "the stream ended before the event");
}

Server::Server(const Installation& installation, const std::string& listen)
    : installation_(installation), program_(installation.start({"serve", "--listen", listen})) {
  const std::string said = program_.wait_out("Command line of this machine");
  const std::string url = word_after(said, "Forge is up at ");
  port_ = std::stoi(url.substr(url.rfind(':') + 1));
  const std::string link = word_after(said, "minutes): ");
  sign_in_path_ = link.substr(link.find("/sign-in/"));
}

Server::~Server() {
  if (ended_) return;
  try {
    program_.signal(SIGTERM);
    program_.wait();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "stopping the server: " << e.what();
  }
}

std::string Server::token(const std::string& role, const std::string& name) const {
  const Said said = installation_.forge({"token", "create", name, "--role", role});
  EXPECT_EQ(said.status(), 0) << said.err;
  return std::string(trim(said.out));
}

const std::string& Server::admin() {
  if (admin_.empty()) admin_ = "Authorization: Bearer " + token("admin", "test-" + std::to_string(program_.pid())) + "\r\n";
  return admin_;
}

test::RawResponse Server::ask(const std::string& method, const std::string& target, const std::string& body,
                              const std::string& headers) const {
  auto client = test::RawClient::tcp(port_);
  const bool has_body = method != "GET" && method != "HEAD";
  if (has_body) return client.ask(test::body_request(method, target, body, headers));
  std::string request = test::get_request(target, headers);
  return client.ask(request.replace(0, 3, method), method == "HEAD");
}

nlohmann::json Server::api(const std::string& method, const std::string& target, const nlohmann::json& body, int status) {
  const auto answer = ask(method, target, body.is_null() ? "" : body.dump(), admin());
  EXPECT_EQ(answer.status, status) << method << " " << target << ": " << answer.body;
  return answer.body.empty() ? nlohmann::json() : nlohmann::json::parse(answer.body);
}

EventReader Server::events(const std::string& target, const std::string& headers) {
  return EventReader(port_, test::get_request(target, admin() + headers));
}

nlohmann::json Server::wait_for(const std::string& job, const std::string& type, const std::function<bool(const nlohmann::json&)>& wanted) {
  auto stream = events("/api/v1/jobs/" + job + "/events");
  return stream
      .until([&](const ServerEvent& event) {
        return event.name.empty() && event.data.value("type", "") == type && wanted(event.data.at("data"));
      })
      .data;
}

nlohmann::json Server::wait_ended(const std::string& job) {
  wait_for(job, "terminal");
  return api("GET", "/api/v1/jobs/" + job).at("last_run");
}

void Server::kill9() {
  ended_ = true;
  program_.signal(SIGKILL);
  EXPECT_EQ(program_.wait().exit.signal, SIGKILL);
}

Said Server::stop() {
  ended_ = true;
  program_.signal(SIGTERM);
  return program_.wait();
}

}  // namespace forge::functional
