package smtpclient

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/lane"
)

// Config configures a Transport. Zero values use the defaults, except where required.
type Config struct {
	Hostname string         // EHLO name; required
	Resolver *dnsx.Resolver // required

	// Control checks the address of every mail host before it is dialled, as a net.Dialer.Control. If it
	// rejects the address, the attempt ends as Failed with reason policy. Required without a smarthost. It is
	// not used for smarthosts, which belong to the operator.
	Control func(network, address string, c syscall.RawConn) error

	MXPort    int            // default 25
	Smarthost *Smarthost     // nil: deliver directly to the recipients' mail hosts
	RootCAs   *x509.CertPool // for verified TLS; default: the system's

	STS     STSPolicies // MTA-STS policies of receivers; nil: not used. Ignored with a smarthost.
	Reports TLSReports  // counts sessions with mail hosts; may be nil

	Lanes    *lane.Registry // limits connections and messages by destination; default: a new one
	IdleAge  time.Duration  // how long an unused connection is kept; default 10 s
	Longest  time.Duration  // maximum duration of one Deliver; default 30 min
	Timeouts Timeouts
	Logger   *slog.Logger // one debug line per connection; default: none
}

// Timeouts are per phase, with the minimums of RFC 5321, 4.5.3.2.
type Timeouts struct {
	Connect  time.Duration // TCP; default 30 s
	Greeting time.Duration // and the handshake of smtps; default 5 min
	Command  time.Duration // EHLO, STARTTLS, AUTH, RSET; default 5 min
	Mail     time.Duration // default 5 min
	Rcpt     time.Duration // default 5 min
	Data     time.Duration // the 354; default 2 min
	Block    time.Duration // each write of the body; default 3 min
	Dot      time.Duration // the reply to the final dot; default 10 min
	Quit     time.Duration // default 5 s: the reply to QUIT is not important
}

func (t Timeouts) withDefaults() Timeouts {
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&t.Connect, 30 * time.Second}, {&t.Greeting, 5 * time.Minute}, {&t.Command, 5 * time.Minute},
		{&t.Mail, 5 * time.Minute}, {&t.Rcpt, 5 * time.Minute}, {&t.Data, 2 * time.Minute},
		{&t.Block, 3 * time.Minute}, {&t.Dot, 10 * time.Minute}, {&t.Quit, 5 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.standard
		}
	}
	return t
}

func (c Config) withDefaults() Config {
	if c.MXPort <= 0 {
		c.MXPort = 25
	}
	if c.Lanes == nil {
		lanes := lane.Config{}
		if c.Smarthost != nil {
			set := c.Smarthost.Set()
			lanes.Smarthost = &set
		}
		c.Lanes = lane.New(lanes)
	}
	if c.Longest <= 0 {
		c.Longest = 30 * time.Minute
	}
	if c.IdleAge <= 0 {
		c.IdleAge = 10 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Timeouts = c.Timeouts.withDefaults()
	return c
}

// Validate returns an error that lists every mistake.
func (c Config) Validate() error {
	var mistakes []error
	if c.Hostname == "" || strings.ContainsFunc(c.Hostname, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		mistakes = append(mistakes, errors.New("smtp transport: a host name for EHLO is required"))
	}
	if c.Resolver == nil {
		mistakes = append(mistakes, errors.New("smtp transport: a resolver is required"))
	}
	if c.Smarthost == nil && c.Control == nil {
		mistakes = append(mistakes,
			errors.New("smtp transport: Control is required to deliver to mail hosts"))
	}
	if c.MXPort > 65535 {
		mistakes = append(mistakes, errors.New("smtp transport: the MX port must be at most 65535"))
	}
	return errors.Join(mistakes...)
}
