// Package smtpclient delivers one message to one recipient, once: directly to the recipient's mail hosts or
// through a smarthost.
//
// Deliver returns one Outcome, whose Kind is reliable:
//
//   - Delivered: the server replied to the final dot with a 2xx.
//   - Permanent: the server rejected this recipient or message with a 5xx.
//   - Failed: no attempt can succeed, for the given Reason (null_mx, no_such_domain, tls_required,
//     message_too_large, smtputf8_required, policy).
//   - Temporary: anything else; retry later. Ambiguous marks the one case in which a retry can produce a
//     second copy: the final dot was sent completely and its reply did not arrive.
//
// beforeFinalDot is called when the whole body has been passed to the network and only the dot is missing.
// If it returns an error, the connection is cut: without the dot the server must discard the message. It is
// called at most once per transaction; after a rejection by one host there may be a transaction with the
// next.
//
// Hosts are tried in the order of RFC 5321, 5.1: by preference, each at all of its addresses, until one
// accepts or rejects permanently. If a host cannot be reached, greets with an error or replies 4xx, the
// next is tried (at most maxAddresses addresses and maxTransactions transactions in one Deliver).
//
// TLS is opportunistic and unverified unless more is required: after a failed handshake the message is sent
// in plaintext over a new connection, and the next connection tries TLS again. The strictest requirement for
// a host decides, and Outcome.TLSPolicy reports its origin:
//
//   - DANE (RFC 7672), if the resolver authenticates the names by DNSSEC and the host has TLSA records: TLS
//     with a certificate that one of them matches. It takes precedence. Unusable records still require TLS;
//     if looking them up fails, the host is not used for now.
//   - The envelope's mode enforced: a certificate verified for the mail host's name.
//   - The receiving domain's MTA-STS policy in mode enforce (RFC 8461): the same, and only with the mail
//     hosts that it names. Mode testing requires nothing.
//
// A host that does not meet the requirement is skipped. If none is left, an enforcing envelope is Failed
// with tls_required; a policy of the receiver is Temporary, because the receiver may repair it, or be under
// attack.
//
// A message is sent by a Way: from the machine's own address, from a source address, or through a smarthost.
// The lane (package lane) of a set of mail hosts and a way limits the number of connections, their duration and
// their messages. Deliver enters the lane when the hosts are known, and reports the result to it. If the lane
// has no room, nothing is attempted, and Outcome.Err is lane.ErrNoRoom; if this machine does not have the
// source address it is ErrAddressGone. Connections are kept for a short time per route (lane, TLS requirement,
// credentials). A kept connection that turns out to be dead before the server has accepted anything is replaced
// without counting as an attempt.
//
// Sessions are opened by mox's smtpclient (greeting, EHLO, STARTTLS, certificates, AUTH). The transaction
// is our own, because the library's allows 30 s for the reply to the final dot where RFC 5321 requires ten
// minutes, drops the text of that reply, treats 251 as a rejection (and then completes an empty message),
// and cannot pause before the dot.
//
// Sessions with mail hosts are counted as TLS-RPT would report them (Config.Reports).
package smtpclient
