#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "orchestrator/base/process.h"
#include "tests/support/temp_dir.h"

namespace forge::test {

/// Real smart HTTP on a port of 127.0.0.1: nginx, fcgiwrap and git http-backend, with their own configuration, sockets and logs in a
/// temporary directory. Works as root and as a plain user. Destroying it ends both process groups.
class GitHttpServer {
 public:
  struct Options {
    std::string username;  ///< empty: nobody has to log in
    std::string password;
    bool tls = false;  ///< with a certificate of an authority of its own, see ca_file()
  };
  /// Why it cannot run here ("nginx is not installed"), or "": for GTEST_SKIP().
  static std::string missing();

  GitHttpServer() : GitHttpServer(Options{}) {}
  explicit GitHttpServer(Options options);
  ~GitHttpServer();
  GitHttpServer(const GitHttpServer&) = delete;
  GitHttpServer& operator=(const GitHttpServer&) = delete;

  /// A new bare repository that may be pushed to; returns its directory. `object_format` is "sha1" or "sha256".
  std::filesystem::path make_repository(const std::string& name, const std::string& object_format = "sha1");
  /// A script that git runs in the repository before a push is taken.
  void set_pre_receive_hook(const std::string& name, const std::string& script);

  int port() const { return port_; }
  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url(const std::string& name) const { return (options_.tls ? "https://" : "http://") + authority() + "/" + name; }
  /// PEM file of the authority that signed the server's certificate.
  std::string ca_file() const { return (directory_ / "ca.pem").string(); }
  /// What nginx logged, one line per request: "GET /x/info/refs 200".
  std::string log() const;

 private:
  std::string configuration() const;
  void make_certificate() const;
  bool try_start();

  Options options_;
  TempDir directory_;
  int port_ = 0;
  std::optional<Child> backend_;
  std::optional<Child> nginx_;
};

}  // namespace forge::test
