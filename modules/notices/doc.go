// Package notices writes the installation's own email to users: links that they requested, invitations,
// security alerts, limits and payments. It has nine languages. Each user gets the language that their browser
// preferred at their last sign-in.
//
// Notices are sent like any other email, from an account without members that appears in no list and is
// exempt from caps and the sandbox. A notice is stored in one transaction with its sender's own records
// (sending.Guard), so no notice is lost or sent twice. Its body may contain a sign-in link, so it is deleted
// within an hour of delivery.
package notices
