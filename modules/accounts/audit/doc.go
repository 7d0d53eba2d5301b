// Package audit is the log of what was done to an account and to the installation: who, what, to
// what, from where.
//
// What matters most is written by [Write], in the transaction of the change, by whoever makes it.
// Everything else that changes an account is written by [Service.Record] at the edge, by operation
// and target, once it is done. Entries hold no secret, are never changed, and go after 400 days.
package audit
