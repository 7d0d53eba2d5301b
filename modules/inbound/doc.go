// Package inbound receives mail for the addresses of domains that receive, keeps it
// and lets it be answered.
//
// # Words
//
// A received email (inb_…) is one message for one envelope recipient. Its content is
// the raw message, octet for octet as it came in; the recipients of one account in one
// SMTP transaction share it. Package addressrules says which addresses of a domain exist.
//
// # What is promised
//
//   - 250 is answered after the commit that holds the content, the records and the
//     facts; messages that come at the same time share commits. With the database away
//     the answer is 451 4.3.0 and nothing is stored.
//   - What cannot be taken is refused at RCPT or at the end of DATA; nothing is bounced
//     later to a sender who may be forged.
//   - No message is refused because of what stands in it: what cannot be read is told
//     in its defects. The one exception is a message that has gone in circles: more
//     than 50 Received fields.
//   - SPF, DKIM, DMARC and the spam filter are asked before the transaction, for at
//     most 20 seconds. What they say is stored and refuses nothing; a DNS or a filter
//     that is away neither.
//   - A message that is sent twice, because its sender did not hear the 250, is stored
//     twice: SMTP has nothing to tell them by.
//   - With an object store a content stays in the database until the store has
//     confirmed it and it was read back octet for octet. An object is deleted by work that
//     waits in the row that names it, so none is forgotten.
//
// # What is decided
//
// Recipients at return paths and at received addresses do not share a transaction:
// the second kind is answered 452 4.5.3, which makes senders use another one (RFC 5321
// section 4.5.3.1.10). postmaster of a receiving domain is always taken (section
// 4.5.1). The raw message gets no fields of ours; who brought it, how, and the envelope
// are fields of the record.
//
// Facts published: email.received. Facts consumed: none.
package inbound
