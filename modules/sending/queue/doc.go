// Package queue lists and changes recipients of released emails that are not settled yet: for
// the operator all of them, for an account its own. A recipient in the queue is
//
//	queued    in the common queue and not tried yet
//	deferred  in the common queue after an unsuccessful attempt
//	parked    waiting for room in the lane of its destination
//	held      stopped by the operator or its account until it is released
//
// and may also be running: a worker has claimed it, and an attempt with its current fence is open. Scheduled
// mail is not in the queue before its time.
//
// Operations on a running recipient: retry skips it, because it is being tried. Hold lets its attempt end and
// prevents the next one. Drop ends the recipient immediately and raises its fencing number, so that the
// worker's outcome changes only the attempt's own row. The worker also loses its lease, which stops the
// attempt if it has not reached its final dot. If it has, the message has arrived, and the attempt says so.
//
// Terms. To hold is to keep a recipient from being tried (recipients.held_by); Release ends the hold. A held
// recipient is in no lane. An account cannot release recipients that the operator holds.
package queue
