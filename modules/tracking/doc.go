// Package tracking puts an open pixel and tracked links into messages, and tells
// who loaded the one and used the others.
//
// # Words
//
// A tracked link is an address of ours that redirects to the target that the
// sender wrote. The target is inside its token, authenticated, so a redirect asks
// no database and works as long as the key that made it is configured: also when
// the email has been erased since. An open pixel is an image of 43 octets. Both are
// bound to account and email, not to a recipient: a message is composed once for all
// of them.
//
// An engagement is one open or one click, as a row and as the fact email.opened or
// email.clicked. One that a program made (a scanner, a prefetch, a mail service that
// loads images for its users) is a machine's: it is recorded all the same, and marked.
//
// A tracking host is a name below a sending domain that points to us by CNAME, so
// that tracked links stand under the sender's own name.
//
// # Rewriting
//
// Only the octets of a target change; whatever else the sender wrote goes out as it
// was. Left alone are: what is no http(s) address (mailto:, tel:, #, relative, and
// template leftovers), our own links, links with the attribute data-no-track, text in
// comments, styles, scripts, textareas and titles, and targets over 2,048 octets.
// A message has at most 10,000 tracked links, the ones after that stay as they are.
package tracking
