#include "tests/support/git_http_server.h"

#include <unistd.h>

#include <chrono>
#include <functional>
#include <vector>

#include "orchestrator/base/error.h"
#include "tests/support/loopback.h"
#include "tests/support/temp_repo.h"

namespace forge::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNginx = "/usr/sbin/nginx";
constexpr const char* kFcgiwrap = "/usr/sbin/fcgiwrap";
constexpr const char* kBackend = "/usr/lib/git-core/git-http-backend";
constexpr const char* kOpenssl = "/usr/bin/openssl";
constexpr int kStartAttempts = 5;
constexpr auto kStartTimeout = std::chrono::seconds(30);

/// A port that was free a moment ago: nginx binds it itself, so a start may have to be tried again.
int free_port() { return listen_on_loopback().port; }

bool accepts(int port) {
  try {
    connect_to_loopback(port);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return false;
  }
}

/// Waits until `ready`; false when `child` ended first.
bool started(Child& child, const std::function<bool()>& ready) {
  const Stop stop = Stop::after(kStartTimeout);
  while (!ready()) {
    try {
      child.wait(stop.shorter(std::chrono::milliseconds(10)));
      return false;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::timed_out) throw;
      stop.check();
    }
  }
  return true;
}

void run_openssl(const fs::path& directory, std::vector<std::string> args) {
  args.insert(args.begin(), kOpenssl);
  const Output output = run_command({.argv = args, .env = {}, .cwd = directory.string(), .fds = {}, .memory_limit_bytes = {}}, "", 1 << 20,
                                    Stop::after(std::chrono::seconds(50)));
  if (!output.exit.ok()) throw Error(ErrorCode::internal, "openssl failed: " + output.err);
}

}  // namespace

std::string GitHttpServer::missing() {
  for (const char* program : {kNginx, kFcgiwrap, kBackend, kOpenssl})
    if (!fs::exists(program)) return std::string(program) + " is not installed";
  return "";
}

GitHttpServer::GitHttpServer(Options options) : options_(std::move(options)) {
  fs::create_directories(directory_ / "repositories");
  write_file(directory_ / "passwords", options_.username + ":{PLAIN}" + options_.password + "\n");
  if (options_.tls) make_certificate();
  const std::string socket = (directory_ / "backend.sock").string();
  backend_ = Child::spawn({.argv = {kFcgiwrap, "-c", "2", "-s", "unix:" + socket},
                           .env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"},
                           .cwd = directory_.str(),
                           .fds = {},
                           .memory_limit_bytes = {}});
  if (!started(*backend_, [&] { return fs::exists(socket); })) throw Error(ErrorCode::internal, "fcgiwrap ended at once");
  for (int attempt = 0; attempt < kStartAttempts; ++attempt)
    if (try_start()) return;
  throw Error(ErrorCode::internal, "nginx does not start: " + read_file(directory_ / "error.log"));
}

GitHttpServer::~GitHttpServer() {
  // By groups: fcgiwrap's workers outlive their parent otherwise.
  if (nginx_) nginx_->terminate(std::chrono::seconds(2));
  if (backend_) backend_->terminate(std::chrono::seconds(2));
}

bool GitHttpServer::try_start() {
  port_ = free_port();
  write_file(directory_ / "nginx.conf", configuration());
  nginx_ = Child::spawn(
      {.argv = {kNginx, "-p", directory_.str(), "-c", (directory_ / "nginx.conf").string(), "-e", (directory_ / "error.log").string()},
       .env = {"PATH=/usr/bin:/bin"},
       .cwd = directory_.str(),
       .fds = {},
       .memory_limit_bytes = {}});
  return started(*nginx_, [&] { return accepts(port_); });
}

std::string GitHttpServer::configuration() const {
  const std::string root = directory_.str();
  // The master is root: its worker would become www-data, which cannot read a temporary directory of root.
  const std::string user = ::geteuid() == 0 ? "user root;\n" : "";
  const std::string tls = options_.tls ? "ssl_certificate server.pem; ssl_certificate_key server.key;\n" : "";
  const std::string login = options_.username.empty() ? "" : "auth_basic git; auth_basic_user_file passwords;\n";
  std::string temporary;
  for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    temporary += std::string(kind) + "_temp_path " + root + "/" + kind + ";\n";
  return user + "daemon off; worker_processes 1; pid nginx.pid;\n" +
         "events { worker_connections 64; }\n"
         "http {\n" +
         temporary +
         "log_format short '$request_method $request_uri $status';\n"
         "access_log access.log short;\n"
         "server {\n"
         "listen 127.0.0.1:" +
         std::to_string(port_) + (options_.tls ? " ssl" : "") + ";\n" + tls +
         "client_max_body_size 0; client_header_timeout 20;\n"
         "location / {\n" +
         login + "fastcgi_pass unix:" + root +
         "/backend.sock; fastcgi_request_buffering off;\n"
         "fastcgi_param SCRIPT_FILENAME " +
         kBackend +
         ";\n"
         "fastcgi_param GIT_PROJECT_ROOT " +
         root +
         "/repositories; fastcgi_param GIT_HTTP_EXPORT_ALL 1;\n"
         "fastcgi_param PATH_INFO $uri; fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_METHOD $request_method;\n"
         "fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length; fastcgi_param REMOTE_USER $remote_user;\n"
         "fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding; fastcgi_param GIT_PROTOCOL $http_git_protocol;\n"
         "}\n}\n}\n";
}

void GitHttpServer::make_certificate() const {
  run_openssl(directory_.path(), {"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout",
                                  "ca.key", "-out", "ca.pem"});
  run_openssl(directory_.path(),
              {"req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr"});
  write_file(directory_ / "names", "subjectAltName=IP:127.0.0.1,DNS:127.0.0.1\n");
  run_openssl(directory_.path(), {"x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                                  "-extfile", "names", "-out", "server.pem"});
}

fs::path GitHttpServer::make_repository(const std::string& name, const std::string& object_format) {
  fs::path path = directory_ / "repositories" / name;
  fs::create_directories(path);
  run_git(path, {"init", "--quiet", "--bare", "--initial-branch=main", "--object-format=" + object_format});
  run_git(path, {"config", "http.receivepack", "true"});
  return path;
}

void GitHttpServer::set_pre_receive_hook(const std::string& name, const std::string& script) {
  const fs::path hook = directory_ / "repositories" / name / "hooks" / "pre-receive";
  write_file(hook, "#!/bin/sh\n" + script);
  fs::permissions(hook, fs::perms(0755));
}

std::string GitHttpServer::log() const { return read_file(directory_ / "access.log"); }

}  // namespace forge::test
