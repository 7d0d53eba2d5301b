// Package statistics counts what became of mail: by quarters of an hour, hours and days, for the account
// as a whole and by sender, tag, recipients' domain and what a bounce means. Mail that came in is counted
// likewise, by domain and what the spam filter said; it needs no module that receives.
//
// The facts of the event log are counted, about once a minute, up to the horizon before which every fact
// is committed. The counts and the mark that says how far they go are written in one transaction, so that
// each fact is counted once. Nothing is added to the way of a message. An answer adds what stands behind
// the mark, counted by the same statement from the facts themselves: it is never late.
//
// A recipient counts once for each kind of thing: of several opens the first one that a program did not
// make. Opens and clicks are seen of an email, not of a recipient: an email to several counts once.
package statistics
