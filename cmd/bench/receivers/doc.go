// Package receivers is where the measured server sends to, all of it on loopback: a Sink that
// takes messages by SMTP, a Webhook that takes events by HTTP, and Names, a DNS server that
// leads domains to them. Each does the least that its protocol asks for, because it shares
// the processors with what is measured.
package receivers

import (
	"fmt"
	"os"
)

// complain says that a receiver is not well. The measurement then goes wrong by itself.
func complain(who string, err error) { fmt.Fprintf(os.Stderr, "bench: %s: %v\n", who, err) }
