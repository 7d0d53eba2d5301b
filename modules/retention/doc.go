// Package retention deletes data whose retention period is over, and data of people who asked for erasure.
//
// Words. The body of an email is its html, text, custom headers and attachments;
// its record is everything else that is known of it, up to the facts about it. An
// account keeps bodies for so many days after sending and records for so many more
// (30 and 90 unless it says otherwise). To purge is to delete what is older. To
// erase is to delete what is stored of one person, at any age.
//
// Received mail ages likewise: its content is its body.
//
// Invariants.
//   - Nothing is purged that is not yet sent: age counts from the last status of an
//     email, so a scheduled one is kept until long after its release.
//   - Erasing stops mail to the address that is not sent yet. What others received
//     stays theirs: an email to several people loses the address and its body.
//   - An erased address that was suppressed stays so: its hash blocks it.
//   - Both are done in small transactions and can be repeated after an error.
//
// Not promised: what was written to log files, to webhook receivers, to the stream of
// exported events or to the recipient's own server is out of reach.
package retention
