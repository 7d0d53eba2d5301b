// Package records reads what is kept of emails, and deletes it: lists, searches, bodies,
// attempts, timelines and counts; deletion by age, and the erasure of one recipient.
//
// It also stores what becomes known of an email after an attempt: a notice (somebody opened
// it, somebody complained) and a late bounce, which is a bounce that came as a message after
// a server had taken the email.
//
// Words. A record is the row of an email with its recipients and attempts. Purging deletes
// bodies by age and leaves the record; deleting takes the record too; erasing takes one
// address out of everything.
//
// Locks are taken in the order of the whole module: recipients before emails, emails in the
// order of their ids.
package records
