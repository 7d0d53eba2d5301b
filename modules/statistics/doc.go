// Package statistics counts the results of mail by quarters of an hour: for the account as a whole, and by
// sender, tag, recipients' domain and bounce class. Received mail is counted by domain and spam verdict, which
// requires no module that receives.
//
// Facts of the event log are counted about once a minute, and more often when there are many, up to the horizon
// before which every fact is committed. A batch adapts to the time it takes. Counts are written in one
// transaction with the mark that says how far they go, so each fact is counted once. Nothing is added to the
// accept path. An answer adds up to tailMost uncounted facts of the account; if there are more, it leaves them
// out, and its AsOf says so.
//
// Package rollup turns facts into rows, package chunk encodes them, and package store keeps them.
//
// A recipient counts once for each kind of thing: of several opens the first one that a program did not
// make. Opens and clicks are seen of an email, not of a recipient: an email to several counts once.
package statistics
