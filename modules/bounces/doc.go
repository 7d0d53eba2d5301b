// Package bounces takes the reports that come back to our return paths: bounces
// (RFC 3464, and what servers sent before it), complaints (RFC 5965), delay notices,
// automatic answers.
//
// Words. A return path is the envelope sender that one recipient of one email was
// written to with (runtime/mail/returnpath); its mark says which. A report is one
// message to a return path. It takes effect when it changes a state or becomes a fact.
//
// Promises.
//   - Only genuine return paths that have not expired, of a recipient that is still
//     stored, are received; everything else is refused at RCPT and changes nothing.
//   - 250 is answered after the commit that holds the report and its effect. With the
//     database away the answer is 451 4.3.0, and the reporting system comes again.
//   - The same report twice has one effect, and so have many bounces of one
//     recipient, or many complaints of one kind.
//   - A report is about the recipient of its return path, whatever addresses stand
//     in it. Those only tell which line of it is meant where it has several.
//   - What is neither a failure nor a complaint is recorded and changes nothing.
//   - The stored line of a report has no mail addresses: an erased one is not there.
//
// A mark proves that a report comes from somebody who saw the message, no more: a
// recipient can make its own copy bounce, and nobody else's. Complaints count at
// return paths only; a feedback loop that reports to another address has to be
// told to use the envelope sender, or brings nothing.
//
// Facts published: email.bounced (by sending) and email.complained. Facts consumed:
// none; modules/suppression hears of both.
package bounces
