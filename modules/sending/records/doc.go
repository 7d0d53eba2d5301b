// Package records reads and deletes stored emails: lists, searches, bodies, attempts, timelines and counts;
// deletion by age, and the erasure of one recipient.
//
// It also stores later reports about an email: notices (an open, a complaint) and late bounces, which arrive
// as messages after a server has accepted the email.
//
// A record is the row of an email with its recipients and attempts. Purging deletes bodies by age and keeps
// the record. Deleting removes the record too. Erasing removes one address from everything.
//
// Locks follow the order of the whole module: recipients before emails, emails in id order.
package records
