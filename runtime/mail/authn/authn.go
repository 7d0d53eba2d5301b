// Package authn finds out who sent a message: SPF (RFC 7208), DKIM (RFC 6376), DMARC
// (RFC 7489) and the reverse name of the client (iprev, RFC 8601 section 3).
//
// It judges nothing: a result is a word of RFC 8601 section 2.7, and what is done
// about it is the caller's matter. When the DNS does not answer in time the word is
// temperror, never fail.
//
// The author is who stands in From as runtime/mail/message reads it, so what is
// verified is what is shown. With several authors the worst result counts; without one
// that can be read DMARC is permerror.
//
// What a stranger can make us do is bounded: the time in all, five signatures, the
// lookups that RFC 7208 allows, ten reverse names, records of 4 KB, a header of 256 KB
// and 2,000 lines. A line of more than 64 KB is hashed within memory that Config gives,
// and of a message with one over 1 MB no signature is verified (permerror). A panic in a
// library is that method's temperror.
package authn

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"github.com/mjl-/mox/dns"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Config says whom to ask. Only the Resolver is required.
type Config struct {
	Resolver dns.Resolver  // as dnsx.Resolver.SMTP gives it
	Timeout  time.Duration // for all of a message, default 20 s
	Logger   *slog.Logger  // default: none
	// Memory waits for bytes in which a message with very long lines is hashed, for who
	// brought it; nil: there is enough.
	Memory func(ctx context.Context, from netip.Addr, octets int64) (release func(), err error)
}

// Client is what the SMTP session knows of the sender.
type Client struct {
	IP       netip.Addr
	Hello    string // of EHLO or HELO
	MailFrom string // envelope sender; empty for the null return path
	Hostname string // ours
}

// Verifier is safe for concurrent use.
type Verifier struct {
	resolver dns.Resolver
	timeout  time.Duration
	log      *slog.Logger
	memory   func(ctx context.Context, from netip.Addr, octets int64) (release func(), err error)
}

// New creates a Verifier.
func New(cfg Config) *Verifier {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 20 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Memory == nil {
		cfg.Memory = func(context.Context, netip.Addr, int64) (func(), error) { return func() {}, nil }
	}
	return &Verifier{resolver: boundedResolver{cfg.Resolver}, timeout: cfg.Timeout, log: cfg.Logger, memory: cfg.Memory}
}

// The words of RFC 8601 that are given here and not by a library.
const (
	temperror = "temperror"
	permerror = "permerror"
)

// Verify finds out about one message.
func (v *Verifier) Verify(ctx context.Context, c Client, raw io.ReaderAt, size int64) shape.Authentication {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	return v.verifyMessage(ctx, c, raw, size)
}
