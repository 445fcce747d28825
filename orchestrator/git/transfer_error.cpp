#include <string>
#include <string_view>

#include "orchestrator/git/transfer.h"

namespace forge::git {
namespace {

/// libgit2 has one class for all of HTTP: its own words are the only thing that tells the cases apart.
struct Meaning {
  std::string_view words;
  ErrorCode code;
  std::string_view text;  ///< after the URL
  std::string_view hint;
};

constexpr Meaning kMeanings[]{
    {"status code: 404", ErrorCode::not_found, "holds no repository, or hides it from us",
     "check the path; a private repository needs git.credentials"},
    {"status code: 403", ErrorCode::permission_denied, "may not be used with these rights",
     "a token with read and write access to this repository"},
    {"status code: 5", ErrorCode::unavailable, "answers with a fault of its own", "try again later"},
    {"status code:", ErrorCode::unavailable, "answers in a way that git does not expect", "check the URL in a browser"},
    {"redirect", ErrorCode::invalid_argument, "sends us on to another address, which is not followed", "name the repository's own address"},
    {"content-type", ErrorCode::invalid_argument, "is a web page and no git repository", "the URL that `git clone` takes"},
    {"REF pkt-line", ErrorCode::unsupported, "names objects in a way that is not understood, most likely SHA-256", "a SHA-1 repository"},
    {"pkt-line", ErrorCode::invalid_argument, "does not speak git over HTTP", "the URL that `git clone` takes"},
    {"remote error", ErrorCode::unavailable, "reports an error", "try again, or look at the server's log"},
    {"failed to resolve address", ErrorCode::unavailable, "names a host that cannot be found", "check the host's name"},
    {"failed to connect", ErrorCode::unavailable, "cannot be reached", "check host and port, and whether the server is up"},
    {"early EOF", ErrorCode::unavailable, "ended the connection too early", "try again later"},
};

Error with(const Error& failure, ErrorCode code, std::string text, std::string_view hint) {
  return Error(code, failure.what()).for_client(std::move(text)).in_field("repository").with_hint(std::string(hint));
}

}  // namespace

Error explain_exchange(const Error& failure, const Exchange& exchange) {
  const std::string_view text = failure.what();
  const std::string subject = "'" + exchange.url + "' ";
  if (!exchange.certificate_fault.empty() || text.find("certificate") != std::string_view::npos)
    return with(failure, ErrorCode::unavailable, subject + "shows a certificate that is not trusted",
                "add its authority to the machine's trusted certificates");
  if (exchange.refused_credential)
    return with(failure, ErrorCode::unauthenticated, subject + "refuses the configured credentials",
                "check the token of git.credentials.\"" + exchange.authority + "\": it may have expired or lack this repository");
  if (exchange.lacked_credential || text.find("status code: 401") != std::string_view::npos)
    return with(failure, ErrorCode::unauthenticated, subject + "needs authentication, and no credentials are configured for its host",
                "set git.credentials.\"" + exchange.authority + "\" with token_env or token_file");
  for (const Meaning& one : kMeanings)
    if (text.find(one.words) != std::string_view::npos) return with(failure, one.code, subject + std::string(one.text), one.hint);
  return with(failure, failure.code(), subject + "cannot be used", "the service's log has the reason");
}

}  // namespace forge::git
