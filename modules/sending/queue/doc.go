// Package queue is the view of all recipients that are not settled and whose email has been
// handed over, and the hand in it: of the operator, and of an account in its own part. A
// recipient in the queue is
//
//	queued    in the common queue and not tried yet
//	deferred  in the common queue after an attempt that did not succeed
//	parked    waiting for room in the lane of its destination
//	held      kept back, by the operator or by its account, until it is released
//
// and it may be running besides: a worker has it, and an attempt of its present
// fence is open. Scheduled mail is not in the queue before its time.
//
// What a running one can be asked for: retry passes over it, because it is being
// tried. A hold lets its attempt end and keeps the next one from beginning. A drop
// ends the recipient at once and raises its fencing number, so that the worker's
// outcome changes nothing but the attempt's own row; the lease is lost with it,
// which stops the attempt before its final dot if that is still ahead. If it is not,
// the message has arrived, and the attempt says so.
//
// Words. To hold is to keep a recipient from being tried (recipients.held_by); the operation
// Release lets it go. A held recipient is in no lane. An account cannot let go what the
// operator holds.
package queue
