// Package inbound receives mail for addresses of receiving domains, stores it, and sends replies.
//
// # Terms
//
// A received email (inb_…) is one message for one envelope recipient. Its content is the raw message, byte
// for byte as received. The recipients of one account in one SMTP transaction share it. Package addressrules
// defines which addresses of a domain exist.
//
// # Guarantees
//
//   - 250 is sent after the commit of content, records and facts. Messages that arrive at
//     the same time share commits. If the database is unavailable, the reply is 451 4.3.0 and
//     nothing is stored.
//   - A message that cannot be accepted is refused at RCPT or at the end of DATA. Nothing is
//     bounced later to a sender that may be forged.
//   - No message is refused for its contents: unreadable parts are listed in its defects. The
//     only exception is a mail loop: more than 100 Received fields.
//   - SPF, DKIM, DMARC and the spam filter are consulted before the transaction, for at most
//     20 seconds. Their results are stored and refuse nothing; neither does an unavailable DNS
//     or filter.
//   - A message that is sent twice, because its sender did not receive the 250, is stored
//     twice: SMTP offers no way to recognize it.
//   - With an object store, a content stays in the database until the store has confirmed it
//     and it was read back byte for byte. The row that names an object is also the work that
//     deletes it, so no object is forgotten.
//
// # Decisions
//
// Return paths and received addresses cannot be recipients of the same transaction. The second kind is rejected
// with 452 4.5.3, so that senders use another transaction (RFC 5321 section 4.5.3.1.10). The postmaster of a
// receiving domain is always accepted (section 4.5.1), and that of the installation if it has operators
// (domains.Postmaster). No header fields are added to the raw message; the client, the protocol and the
// envelope are fields of the record.
//
// Facts published: email.received. Facts consumed: none.
package inbound
