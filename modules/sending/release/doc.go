// Package release hands scheduled emails over to delivery when they are due, or fails those that are no
// longer allowed.
//
// Permission at acceptance does not guarantee permission at the scheduled time. So the account, the sender's
// domain, the policy (package policy) and suppression are checked again. Only the caps are not: they counted
// the email when it was accepted, and refused emails are refunded.
//
// Every process that delivers also releases. Each takes emails that no other process has locked.
//
// Invariants:
//   - Only the database clock decides that an email is due.
//   - An email is released by updating a row that is locked and still scheduled. So a release
//     and a cancellation of one email have one winner, and a release is atomic.
//   - Mail of a suspended account is queued. It is checked again every minute, and released
//     once the account is resumed.
//   - Nothing is released while the installation is held.
package release
