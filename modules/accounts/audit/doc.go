// Package audit records changes to an account and to the installation: the actor, the action, its target and
// its origin.
//
// [Write] writes the most important entries in the transaction of the change. For all other changes of an
// account, the API calls [Service.Record] with the operation and its target after the change. Entries contain
// no secrets, are never changed, and are deleted after 400 days.
package audit
