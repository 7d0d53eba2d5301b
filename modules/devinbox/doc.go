// Package devinbox captures outgoing mail in development mode.
//
// It is a receiving mail server on loopback inside the process: the delivery engine sends messages to it over
// real SMTP, like to a smarthost, and the server stores each as received, with its envelope. A message is
// stored before the server replies 250. The newest emails are kept (Keep), and older ones are deleted.
//
// For some domains (Config.Domains) it simulates receivers that fail, selected by the local part (play.go).
// The failures arrive like from real servers: in the reply to RCPT, or later as a report to the return path
// (RFC 3464 or RFC 5965), submitted over SMTP. No other part of the product can distinguish them from real
// ones.
//
// Text messages arrive through a function call (CatchText), because the provider of development mode runs in
// the same process. They are listed together with the mail.
//
// Captured mail belongs to the installation and not to an account: development mode has one user and no
// login.
package devinbox
