// Package audit records changes to an account and to the installation: the actor, the action, its
// target and its origin.
//
// The most important entries are written by [Write], in the transaction of the change. All other changes of
// an account are recorded by [Service.Record] at the edge, with operation and target, after they are done.
// Entries contain no secrets, are never changed, and are deleted after 400 days.
package audit
