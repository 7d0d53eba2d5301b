// Package relay accepts mail from programs of accounts over SMTP (message submission, RFC 6409) and passes it
// to sending, under the rules of POST /emails.
//
// Terms. A credential is a password of 256 random bits with which an account's program authenticates, under
// the fixed user name `postrider`; only its hash is stored. An API key that may send is also accepted as the
// password. A submission is one message with its envelope.
//
// Authorization. AUTH is offered over TLS only. The domain of MAIL FROM and the single From address must each
// be on a verified domain of the account that the credential may use. A revoked credential or a suspended
// account cannot send another message, even on open connections. Passwords are looked up by their hash,
// whatever the user name, so all rejections take the same time. Clients that fail too often must wait, by
// address (an IPv4 address or an IPv6 /64).
//
// Accepted content. A message is sent as received: its fields in order and its body byte for byte. Bcc,
// Sender, Return-Path, Received, DKIM-Signature and X-Postrider-* are removed. A message is rejected if POST
// /emails would reject one of its fields, or if two readers could interpret it differently.
//
// Corrected mistakes. Common mistakes of programs are corrected if the meaning is clear, before the message
// is stored and signed:
//   - An invalid Message-ID or Date is replaced by our own.
//   - An empty To, Cc or Reply-To is removed. A list separated by semicolons, or with display names that lack
//     quotes, is rewritten. Any other list that does not consist of addresses is rejected.
//   - Raw 8-bit values become encoded words, so SMTPUTF8 is only needed for addresses. Values that are not
//     UTF-8
//     are decoded with the charset of the message, otherwise as windows-1252.
//   - Fields with a line over 998 bytes are folded. A part whose body has such a line is encoded as
//     quoted-printable or base64, and rejected if it is signed, encrypted or an attached message, because encoding would
//     break it.
//
// X-Postrider-Unsubscribe, -Category, -Tag, -Scheduled-At, -Expires-At and -Idempotency-Key set the fields of
// POST /emails that have no equivalent in a message. Other X-Postrider-* names are rejected: for example, a
// mistyped Scheduled-At must not send immediately.
//
// Replies. 250 contains the email's id and follows the durable commit. A message to a suppressed recipient is
// recorded and rejected with 550 5.7.1, with the id and the address. Rejections: 535 5.7.8 wrong credentials,
// 530 5.7.0 no credentials, 538 5.7.11 no TLS, 550 5.7.1 not allowed, 550 5.6.0 invalid field, 554 5.6.0
// message cannot be sent, 552 5.3.4 too large, 452 4.5.3 too many recipients, 450 4.2.1 caps and rates, 451
// 4.3.0 storage temporarily unavailable.
//
// A message whose 250 was lost may be accepted twice. A client that retries under the same
// X-Postrider-Idempotency-Key receives the id of the first submission.
package relay
