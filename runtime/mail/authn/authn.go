// Package authn authenticates the sender of a message: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and
// the reverse name of the client (iprev, RFC 8601 section 3).
//
// It makes no decision: a result is a word of RFC 8601 section 2.7, and the caller decides how to treat it.
// If the DNS does not respond in time, the result is temperror, never fail.
//
// The author is the one in From as parsed by runtime/mail/message, so the verified author is the displayed
// one. With several authors the worst result counts; if no author can be parsed, DMARC is permerror.
//
// The work that a sender can cause is bounded: the total time, five signatures, the lookups that RFC 7208
// allows, ten reverse names, records of 4 KB, a header of 256 KB and 2,000 lines. A line of more than 64 KB
// is hashed within memory from Config, and no signature of a message with a line over 1 MB is verified
// (permerror). A panic in a library becomes a temperror of that method.
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

// Config configures a Verifier. Only the Resolver is required.
type Config struct {
	Resolver dns.Resolver  // as returned by dnsx.Resolver.SMTP
	Timeout  time.Duration // for the whole message, default 20 s
	Logger   *slog.Logger  // default: none
	// Memory waits for bytes in which to hash a message with very long lines, on behalf of its sender; nil
	// if memory is not limited.
	Memory func(ctx context.Context, from netip.Addr, octets int64) (release func(), err error)
}

// Client is what the SMTP session knows about the sender.
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

// The result words of RFC 8601 that are set here and not by a library.
const (
	temperror = "temperror"
	permerror = "permerror"
)

// Verify authenticates one message.
func (v *Verifier) Verify(ctx context.Context, c Client, raw io.ReaderAt, size int64) shape.Authentication {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	return v.verifyMessage(ctx, c, raw, size)
}
