// Package smtpserver receives all mail over SMTP: return paths, inbound mail and submission use the same
// listener with different sessions.
//
// The protocol is implemented by github.com/emersion/go-smtp. Between it and the network is the wire, which
// sees every byte in both directions in plaintext and enforces the rules for a server with untrusted
// clients:
//
//   - The first failed read ends the connection. Nothing after a stalled body is interpreted as a command,
//     because that would allow smuggling a second message.
//   - There are time limits for a command line, for each read of a body, for the whole message and for the
//     connection. Bytes are counted, even those that are read and discarded.
//   - Lines end with CRLF (RFC 5321, 2.3.8). A bare CR or LF in a command ends the connection; in a
//     message, the message is rejected.
//   - Connections are limited in total and by address, rejections per connection; a client that talks
//     before the greeting is not served.
//   - The wire starts TLS, so the rules also apply inside it. A failed handshake ends the connection, and
//     so does any plaintext after STARTTLS.
//
// Sessions are called one method at a time. An error that is a *Reply is sent as the reply; any other error is
// logged and answered with 451 4.3.0, "try again later": while the database is unavailable, nothing is rejected
// permanently and nothing is lost. Data must read the body to its end before it stores anything: the message is
// known to be complete only then.
//
// Stop accepts no new connections, sends 421 to those that wait for a command, and lets messages in
// progress finish.
//
// Known and tolerated: a message sent without waiting for 354 is accepted.
package smtpserver
