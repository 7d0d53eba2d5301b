// Package retention deletes data whose retention period has expired, and the data of people who requested
// erasure.
//
// Terms. The body of an email is its HTML, text, custom headers and attachments; its record is everything
// else stored about it, including its facts. Each account configures for how many days after sending it keeps
// bodies and records (30 and 90 by default). Purging deletes older data. Erasing deletes the stored data of
// one person, regardless of age.
//
// Received mail expires in the same way: its content counts as its body.
//
// Invariants:
//   - Unsent mail is never purged: age counts from the last status of an email, so a scheduled email is
//     kept until long after its release.
//   - Erasing cancels unsent mail to the address. The data of other recipients remains: an email to several
//     people loses the address and its body.
//   - An erased address that was suppressed stays suppressed through its hash.
//   - Both run in small transactions and can be repeated after an error.
//
// Data that was already sent to log files, webhook receivers, the stream of exported events or the
// recipient's own server is not deleted.
package retention
