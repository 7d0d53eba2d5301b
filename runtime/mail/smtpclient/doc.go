// Package smtpclient delivers one message to one recipient, once: directly to the
// recipient's mail hosts or through a smarthost.
//
// Deliver ends in one Outcome, and its Kind is what the caller may rely on:
//
//   - Delivered: the server answered the final dot with a 2xx.
//   - Permanent: the server refused this recipient or message with a 5xx.
//   - Failed: no attempt can succeed, for the Reason given (null_mx, no_such_domain,
//     tls_required, message_too_large, smtputf8_required, policy).
//   - Temporary: anything else; try again later. Ambiguous marks the one case in
//     which trying again can make a second copy: the final dot had gone out whole
//     and its reply did not come back.
//
// beforeFinalDot is asked when the whole body has been handed to the network and
// only the dot is missing. If it returns an error, the connection is cut: without
// the dot the server must forget the message. It is asked at most once per
// transaction; a refusal by one host may be followed by a transaction with the next.
//
// Hosts are tried in the order of RFC 5321, 5.1: by preference, each at all of its
// addresses, until one accepts or refuses for good. A host that cannot be reached,
// greets with an error or answers 4xx is followed by the next (at most
// maxAddresses addresses and maxTransactions transactions in one Deliver).
//
// TLS is opportunistic and unverified unless somebody demands more: a failed
// handshake is tried once more in the clear, and where that helped, TLS is left out
// with that host for an hour. What is demanded of a host decides,
// and Outcome.TLSPolicy says whose demand that was:
//
//   - DANE (RFC 7672), where the resolver vouches for the names by DNSSEC and the host
//     has TLSA records: TLS with a certificate that one of them matches. It comes
//     before all others. Records that cannot be used leave the demand of TLS; a
//     lookup of them that fails rules the host out for now.
//   - The envelope's enforced: a certificate verified for the mail host's name.
//   - The receiving domain's MTA-STS policy in mode enforce (RFC 8461): the same, and
//     only with the mail hosts that it names. In mode testing nothing is demanded.
//
// A host that falls short is left for the next. If none is left, an enforcing
// envelope is Failed with tls_required; a policy of the receiver's is Temporary, for
// the receiver may mend it, or be under attack.
//
// A message leaves by a Way: from the machine's own address, from a source address, or
// through a smarthost. How many connections there may be to a set of mail hosts by one
// way, for how long and for how many messages, is said by its lane (package lane),
// which Deliver enters when the hosts are known and tells how it went. Where the lane
// has no room nothing is attempted, and Outcome.Err is lane.ErrNoRoom; where this machine
// does not have the source address it is ErrAddressGone. Connections are
// kept for a short while per route (lane, TLS demand, credentials).
// A kept connection that turns out to be dead before the server has accepted
// anything is replaced without that counting as an attempt.
//
// Sessions are opened by mox's smtpclient (greeting, EHLO, STARTTLS, certificates,
// AUTH); the transaction is ours, because the library's allows 30 s for the reply to
// the final dot where RFC 5321 asks for ten minutes, drops that reply's text, takes
// 251 for a refusal (and then completes an empty message), and cannot pause before
// the dot.
//
// Sessions with mail hosts are counted as TLS-RPT would report them (Config.Reports).
package smtpclient
