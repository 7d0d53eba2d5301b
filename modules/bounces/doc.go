// Package bounces receives the reports sent to our return paths: bounces (RFC 3464 and older formats),
// complaints (RFC 5965), delay notices and automatic replies.
//
// Terms. A return path is the envelope sender used for one recipient of one email (runtime/mail/returnpath);
// its mark identifies the recipient. A report is one message to a return path. A report takes effect when it
// changes a state or becomes a fact.
//
// Guarantees:
//   - Reports are accepted only at genuine, unexpired return paths whose recipient is still stored. All
//     other addresses are rejected at RCPT without any change.
//   - 250 follows the commit of the report and its effect. While the database is unavailable the reply is
//     451 4.3.0, and the reporting system retries.
//   - A repeated report has one effect. So do several bounces of one recipient, and several complaints of
//     one kind.
//   - A report applies to the recipient of its return path, whatever addresses it contains. Those only
//     select the line of a report with several recipients.
//   - A report about an account that has moved is forwarded to the installation that has it. 250 follows its response.
//     During the move, the reporting system retries.
//   - A return path that an earlier installation of the account has created is accepted once that installation has
//     confirmed it (modules/accounts/origins).
//   - A report that is neither a failure nor a complaint is recorded and changes nothing.
//   - The stored line of a report contains no mail addresses, and so no erased ones.
//
// A mark only proves that the reporter saw the message: recipients can make their own copy bounce, but no
// other copy. Complaints count at return paths only. A feedback loop that reports to another address must be
// configured to use the envelope sender; otherwise it has no effect.
//
// Facts published: email.bounced (by sending) and email.complained. Facts consumed: none; modules/suppression
// consumes both.
package bounces
