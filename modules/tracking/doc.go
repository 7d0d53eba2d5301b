// Package tracking adds an open pixel and tracked links to messages, and records opens and clicks.
//
// # Terms
//
// A tracked link is a URL of this installation that redirects to the sender's target. The target is part of the
// authenticated token, so a redirect needs no database. It works as long as the key of the token is configured,
// even after the email was erased. An open pixel is an image of 43 bytes. Both are bound to an account and an
// email, not to a recipient, because a message is composed once for all recipients.
//
// An engagement is one open or click, stored as a row and published as the fact email.opened or email.clicked.
// If a program caused it (a scanner, a prefetch, or a mail service that loads images for its users), it is
// recorded and marked as caused by a machine.
//
// A tracking host is a name below a sending domain that points to the installation by CNAME, so that tracked
// links use the sender's own name.
//
// # Rewriting
//
// Only the bytes of a target change; the rest of the message is sent as written. These are not tracked:
// anything that is not an http(s) URL (mailto:, tel:, #, relative URLs, unrendered template code), our own
// links, links with the attribute data-no-track, text in comments, styles, scripts, textareas and titles, and
// targets longer than 2,048 bytes. A message has at most 10,000 tracked links; further links are left
// unchanged.
package tracking
