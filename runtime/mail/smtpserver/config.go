package smtpserver

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/postrider/postrider/runtime/base/intake"
)

// Config configures a listener. Zero limits are replaced by those of Defaults.
type Config struct {
	Name     string // of the listener, in metrics and the log: bounces, inbound, relay
	Hostname string // the name in the greeting
	Handler  Handler
	Logger   *slog.Logger
	Metrics  *Metrics // nil: not counted

	MaxMessageBytes int64 // a message of exactly this size is accepted
	MaxRecipients   int   // of one message
	Connections     int   // total
	PerAddress      int   // per IPv4 address or IPv6 /64
	MaxErrors       int   // rejections per connection
	MaxAuthFailures int   // per connection
	MaxCommands     int   // replies since the last accepted message

	Idle           time.Duration // time to receive a command line; RFC 5321, 4.5.3.2.7: at least 5 minutes
	BodyRead       time.Duration // each read inside a message
	MessageTime    time.Duration // a whole message
	ConnectionTime time.Duration // a whole connection
	WriteTime      time.Duration
	Pace           intake.Rate   // of a message, once it is over 64 KB
	GreetPause     time.Duration // a client that sends anything during this pause is rejected; 0: no pause

	TLS          *tls.Config    // enables STARTTLS; nil: not offered
	ImplicitTLS  bool           // TLS from the first byte
	SMTPUTF8     bool           // advertised
	ProxyTrusted []netip.Prefix // the PROXY protocol is required from these and rejected from others
}

// Defaults contains the default limits.
var Defaults = Config{
	MaxMessageBytes: 40 << 20, MaxRecipients: 100, Connections: 1000, PerAddress: 20, MaxErrors: 20, MaxAuthFailures: 5,
	MaxCommands: 500,
	Idle:        5 * time.Minute, BodyRead: 3 * time.Minute, MessageTime: 30 * time.Minute,
	ConnectionTime: 2 * time.Hour,
	WriteTime:      time.Minute,
	Pace:           intake.DefaultRate,
}

func (c Config) withDefaults() (Config, error) {
	var wrong error
	if c.Handler == nil || c.Logger == nil || c.Name == "" || c.Hostname == "" {
		wrong = errors.New("smtp server: name, host name, handler and logger are required")
	}
	if c.ImplicitTLS && c.TLS == nil {
		wrong = errors.Join(wrong, errors.New("smtp server: implicit TLS requires a certificate"))
	}
	d := Defaults
	orElse(&c.MaxMessageBytes, d.MaxMessageBytes)
	if c.Pace == (intake.Rate{}) {
		c.Pace = d.Pace
	}
	for limit, def := range map[*int]int{&c.MaxRecipients: d.MaxRecipients, &c.Connections: d.Connections,
		&c.PerAddress: d.PerAddress,
		&c.MaxErrors:  d.MaxErrors, &c.MaxAuthFailures: d.MaxAuthFailures, &c.MaxCommands: d.MaxCommands} {
		orElse(limit, def)
	}
	for limit, def := range map[*time.Duration]time.Duration{&c.Idle: d.Idle, &c.BodyRead: d.BodyRead,
		&c.MessageTime:    d.MessageTime,
		&c.ConnectionTime: d.ConnectionTime, &c.WriteTime: d.WriteTime} {
		orElse(limit, def)
	}
	return c, wrong
}

func orElse[T int | int64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}
