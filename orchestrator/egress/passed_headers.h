#pragma once

#include <vector>

#include "orchestrator/base/redactor.h"
#include "orchestrator/httpd/message.h"
#include "orchestrator/models/providers.h"
#include "orchestrator/net/http_client.h"

namespace forge::egress {

/// What the provider is sent for a request from inside: its headers without those of the connection and without any credential or account,
/// plus the real ones. Betas that the operator configured are added to the agent's own.
std::vector<net::HttpHeader> upstream_headers(const httpd::Request& request, const models::Upstream& upstream, models::WireFormat format);

/// What the agent is told of an answer's headers: not those of the connection, of the provider's cookies, or of the account. `redactor`
/// takes out what the provider may have repeated of ours.
std::vector<httpd::Header> answer_headers(const net::HttpHead& head, const Redactor& redactor);

}  // namespace forge::egress
