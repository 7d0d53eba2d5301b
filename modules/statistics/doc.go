// Package statistics counts the results of mail in intervals of 15 minutes: for the account as a whole, and
// by sender, tag, recipient domain and bounce class. Received mail is counted by domain and spam verdict, and
// runs of automations by automation.
// This does not require a module that receives mail.
//
// Facts of the event log are counted about once a minute, and more often when there are many, up to the
// horizon before which every fact is committed. Batch sizes adapt to the time they take. Counts are written
// in one transaction with the mark that records the progress, so each fact is counted once. The accept path
// does no work for statistics. An answer includes up to tailMost uncounted facts of the account; if there are
// more, it omits them, and its AsOf says so.
//
// Package rollup turns facts into rows, package chunk encodes them, and package store keeps them.
//
// A recipient counts once for each kind of result: of several opens, only the first one by a human counts.
// Opens and clicks belong to an email, not to a recipient: an email to several recipients counts once.
package statistics
