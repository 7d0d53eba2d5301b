// Package relay takes mail from programs of accounts over SMTP (message submission, RFC
// 6409) and hands it to sending, under the rules of POST /emails.
//
// Words. A credential is a password of 256 random bits that an account's program signs
// in with, under the fixed user name `postrider`; only its hash is kept. An API key that may
// send is accepted as the password too. A submission is one message with its envelope.
//
// Who may. AUTH is offered over TLS only. The domain of MAIL FROM and the one address of
// From must each be on a verified domain of the account that the credential may use.
// A credential that was revoked, and an account that was suspended, send no further
// message, on connections that are open too. Passwords are looked up by their hash,
// whatever user name they come with, so that refusals take the same time; who
// fails too often waits, by address (an IPv4 address or an IPv6 /64).
//
// What is taken. A message leaves as it came: its fields in their order and its body
// octet for octet. Bcc, Sender, Return-Path, Received, DKIM-Signature and X-Postrider-*
// are taken out; fields that POST /emails refuses refuse the message, and so does
// whatever two readers could read in two ways. Fields in raw UTF-8 are written in
// encoded words, so that SMTPUTF8 is needed for addresses alone.
//
// X-Postrider-Unsubscribe, -Category, -Tag, -Scheduled-At, -Expires-At and
// -Idempotency-Key say what the fields of POST /emails say that have no place in a
// message. Another name is refused: a mistyped one must not send at once.
//
// Answers. 250 names the email's id and follows the durable commit. A message to a
// suppressed recipient is recorded and answered 550 5.7.1, with the id and the address.
// Refusals: 535 5.7.8 credentials,
// 530 5.7.0 none, 538 5.7.11 in clear, 550 5.7.1 not allowed, 550 5.6.0 a wrong field, 554 5.6.0 not a
// message that can be sent, 552 5.3.4 too large, 452 4.5.3 too many recipients, 450 4.2.1 caps
// and rates, 451 4.3.0 nothing can be stored now.
//
// Not promised: that a message whose 250 got lost is taken once; a client that sends it
// again under the same X-Postrider-Idempotency-Key gets the id of the first.
package relay
