// Package devinbox catches outbound mail in development mode.
//
// It is a receiving mail server on loopback inside the process: the delivery
// engine hands it messages over real SMTP, as it would to a smarthost, and it
// keeps each as received, with its envelope. A message is stored before it is
// answered with 250. The newest ones are kept (Keep); older ones go.
//
// At some domains (Config.Domains) it plays receivers with whom something goes wrong, told by
// the local part (play.go). What goes wrong comes the way it comes from real servers: as the
// reply to RCPT, or later as a mail to the return path, a report of RFC 3464 or RFC 5965 that
// is handed in over SMTP. Nothing else of the product knows that it is played.
//
// Text messages come by a call (CatchText), as their provider of development mode is in the same
// process, and are shown beside the mail.
//
// A captured mail belongs to the installation and not to an account: development
// mode has one user, and no login.
package devinbox
