// Package suppression knows which addresses an account must not write to.
//
// # Words
//
// A suppression blocks all mail of one account to one address. Its reason says
// where it comes from: bounce, failure, complaint (automatic), unsubscribe (the
// recipient's wish), manual (the API). There is at most one of an address: the
// first stays, whatever happens after it.
//
// An opt-out blocks the mail of one category to one address; all other mail goes
// on. A category is named by a label that the sender writes freely ("Product
// news"); labels with the same key ("product-news") are the same category.
//
// An address is what recipients hold: local part, A-labels, compared in lower
// case. Two that differ in case only are one here, although RFC 5321 section 2.4
// lets a server tell them apart: hardly any does, and a wish not to be written to
// is not to be got around by a capital letter.
//
// # Erasure
//
// Rows are found by a keyed hash of the address, so that they go on blocking when
// the address itself was erased on a person's demand. Who has the database without
// the master key cannot tell whose hashes they are.
//
// The key is derived from the master key. New rows get the hash of the first
// master key; look-ups try all that are configured. When more than one is, a start
// hashes again what was hashed under an older one (rehash.go), so that the older
// key may go, except for erased addresses: what is not known cannot be hashed, and
// those block only while the key they were hashed under stays configured.
//
// # Links
//
// An unsubscribe link carries all that it needs, authenticated: account, email,
// address and category. It does not expire, and works when the email is long gone.
// It is bound to no secret of the recipient: whoever has the message can use it.
//
// # Automatic suppression
//
// decide.go is the whole rule: a bounce suppresses the recipient, hard or soft,
// unless it was about this message (size, content, policy); a failure only when
// the address can never receive; a complaint always.
//
// # Facts
//
// Published, in the transaction of the change: contact.unsubscribed,
// suppression.added, suppression.removed. Consumed: email.bounced, email.failed,
// email.complained. Handling one twice is handling it once, except that an address
// that was taken off the list in between is put on it again.
package suppression
