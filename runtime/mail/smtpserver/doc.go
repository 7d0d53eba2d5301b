// Package smtpserver is the one way in which mail comes in over SMTP: return paths,
// inbound mail and submission use the same listener with other sessions.
//
// The dialogue is github.com/emersion/go-smtp's. Between it and the network stands
// the wire, which sees every octet of both directions in clear and keeps the rules that
// a server which strangers talk to has to keep:
//
//   - The first read that fails ends the connection. Nothing that comes after a body
//     which stalled is taken for a command: a second message could be smuggled in so.
//   - A command line must come within its time; of a body each read must, and the
//     whole message, and the connection has an end. Octets are counted, also of what
//     is read only to be thrown away.
//   - Lines end with CRLF (RFC 5321, 2.3.8). A bare CR or LF in a command ends the
//     connection, in a message it refuses the message.
//   - Connections are counted in all and by address, refusals by connection; who
//     talks before the greeting is not served.
//   - TLS is begun by the wire, so the rules hold inside it too. A handshake that
//     fails ends the connection, and so does anything that was sent in clear behind
//     STARTTLS.
//
// Sessions are called one method at a time. An error that is a *Reply is the answer;
// any other is logged and answered 451 4.3.0, "try again later": with the database
// away nothing is refused for good and nothing is lost. Data must read the body to its
// end before it stores anything: only there it is known to be whole.
//
// Stop takes no new connections, tells those that wait for a command 421, and lets
// messages that are under way end.
//
// Known and left alone: a SIZE above 4 GiB is answered 501 instead of 552 by go-smtp;
// a DATA that is sent without waiting for 354 is served.
package smtpserver
