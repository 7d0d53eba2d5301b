// Package suppression stores the addresses that an account must not send to: suppressions and category
// opt-outs.
//
// # Terms
//
// A suppression blocks all mail of one account to one address. Its reason records its origin: bounce,
// failure, complaint (automatic), unsubscribe (requested by the recipient) or manual (added over the API). An
// address has at most one suppression. Later events do not replace it, except that an unsubscribe replaces a
// reason that is not the recipient's own request.
//
// An opt-out blocks the mail of one category to one address; other mail is not affected. Senders name
// categories freely with labels ("Product news"). Labels with the same key ("product-news") are the same
// category.
//
// Addresses are stored like recipients: local part and A-labels, compared in lower case. Two addresses that
// differ only in case are treated as one, although RFC 5321 section 2.4 lets a server distinguish them: few
// servers do, and a different spelling must not circumvent a recipient's opt-out.
//
// # Erasure
//
// Rows are found by a keyed hash of the address, so that they still block after the address itself was erased
// at a person's request. The database alone, without the master key, does not reveal to which addresses the
// hashes belong.
//
// The key is derived from the master key. New rows get the hash under the first master key; lookups try all
// that are configured. If there are several, the service rehashes older rows at startup (rehash.go), so that
// the older key can be removed. Erased addresses are the exception: an unknown address cannot be rehashed, so
// those rows block only while their key stays configured.
//
// # Links
//
// An unsubscribe link contains everything it needs, authenticated: account, email, address and category. It
// does not expire, and works after the email was deleted. The recipient needs no credentials: every holder
// of the message can use it.
//
// # Automatic suppression
//
// decide.go contains the whole rule: a bounce, hard or soft, suppresses the recipient unless it was about the
// message (size, content, policy); a failure does so only if the address can never receive mail; a complaint
// always does.
//
// # Facts
//
// Published, in the transaction of the change: contact.unsubscribed, suppression.added, suppression.removed.
// Consumed: email.bounced, email.failed, email.complained. Handling a fact twice has the same effect as
// handling it once, except that an address removed from the list in between is added again.
package suppression
