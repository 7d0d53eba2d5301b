// Package release hands scheduled emails over to delivery at their time, or refuses those
// that would be refused now.
//
// What was allowed when an email was accepted need not be allowed at its time. So the account,
// the sender's domain, the policy (package policy) and suppression are asked again. Only the
// caps are not: they counted the email when it was accepted, and get back what is refused.
//
// Every process that delivers releases too. Each takes emails that no other has locked.
//
// Invariants.
//   - The clock of the database alone says that a time has come.
//   - An email is released by an update of a row that is locked and still scheduled. So a
//     release and a cancel of one email have one winner, and a release is whole or has not
//     happened.
//   - Mail of a suspended account is queued. It is looked at again every minute, and released
//     once the account is resumed.
//   - Nothing is released while the installation is held.
package release
