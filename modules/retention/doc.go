// Package retention deletes data whose retention period has expired, and the data of people who requested
// erasure.
//
// Terms. The body of an email is its HTML, text, custom headers and attachments; its record is everything
// else stored about it, including its facts. An account keeps bodies for a number of days after sending and
// records for another number of days (30 and 90 by default). Purging deletes older data. Erasing deletes
// the stored data of one person, regardless of age.
//
// Received mail expires in the same way: its content counts as its body.
//
// Invariants:
//   - Unsent mail is never purged: age counts from the last status of an email, so a scheduled email is
//     kept until long after its release.
//   - Erasing cancels unsent mail to the address. Other recipients keep their data: an email to several
//     people loses the address and its body.
//   - An erased address that was suppressed stays suppressed through its hash.
//   - Both run in small transactions and can be repeated after an error.
//
// Log files, webhook receivers, the stream of exported events and the recipient's own server are out of
// reach; data already sent there is not deleted.
package retention
