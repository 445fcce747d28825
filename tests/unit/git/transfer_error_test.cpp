#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/git/transfer.h"

namespace forge::git {
namespace {

using testing::HasSubstr;

Error explained(const std::string& text, Exchange exchange = {}) {
  exchange.url = "https://host/x";
  exchange.authority = "host";
  return explain_exchange(Error(ErrorCode::internal, text), exchange);
}

TEST(TransferErrors, AreToldApartByLibgit2sWords) {
  for (const auto& [words, code] :
       std::vector<std::pair<std::string, std::string>>{{"unexpected http status code: 404", "not_found"},
                                                        {"unexpected http status code: 403", "permission_denied"},
                                                        {"unexpected http status code: 401", "unauthenticated"},
                                                        {"unexpected http status code: 502", "unavailable"},
                                                        {"unexpected http status code: 418", "unavailable"},
                                                        {"cannot redirect from 'host' to 'other'", "invalid_argument"},
                                                        {"invalid content-type: 'text/html'", "invalid_argument"},
                                                        {"error parsing REF pkt-line", "unsupported"},
                                                        {"invalid pkt-line", "invalid_argument"},
                                                        {"the SSL certificate is invalid", "unavailable"},
                                                        {"early EOF", "unavailable"},
                                                        {"something new", "internal"}}) {
    const Error error = explained(words);
    EXPECT_EQ(name_of(error.code()), code) << words;
    EXPECT_THAT(error.client_text(), HasSubstr("'https://host/x' ")) << words;
    EXPECT_THAT(error.what(), HasSubstr(words));
    EXPECT_FALSE(error.hint().empty());
    EXPECT_EQ(error.field(), "repository");
  }
}

TEST(TransferErrors, KnowWhetherACredentialWasRefusedOrMissing) {
  EXPECT_THAT(explained("stopped", {.lacked_credential = true}).client_text(), HasSubstr("no credentials are configured"));
  EXPECT_THAT(explained("stopped", {.refused_credential = true}).client_text(), HasSubstr("refuses the configured credentials"));
  EXPECT_THAT(explained("stopped", {.certificate_fault = "host"}).client_text(), HasSubstr("certificate that is not trusted"));
}

}  // namespace
}  // namespace forge::git
