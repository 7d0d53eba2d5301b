// Package devinbox catches outbound mail in development mode.
//
// It is a receiving mail server on loopback inside the process: the delivery
// engine hands it messages over real SMTP, as it would to a smarthost, and it
// keeps each as received, with its envelope. A message is stored before it is
// answered with 250. The newest ones are kept (Keep); older ones go.
//
// A captured mail belongs to the installation and not to an account: development
// mode has one user, and no login.
package devinbox
