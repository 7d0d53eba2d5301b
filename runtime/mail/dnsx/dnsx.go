// Package dnsx performs DNS lookups, for delivery and for verifying domains.
//
// A result is one of three things, which callers must distinguish:
//
//   - records;
//   - ErrNotFound: the name does not exist, or has no records of that type (see Error.NXDomain). It
//     is an answer, and it is cached;
//   - ErrTemporary: SERVFAIL, REFUSED, no reply, no network, a broken or endless chain of aliases. It says
//     nothing about the name; retry later.
//
// Names are case-insensitive and may end in a dot; names with U-labels are looked up by their A-labels.
// CNAME chains are followed for at most 10 links, except by LookupCNAME, which returns the first link.
// Queries use UDP with EDNS0, then TCP if the reply is truncated, and try each server in turn.
//
// Positive and negative answers are cached for their TTL within limits. WithoutCache returns the same resolver
// without the cache, for "check now" buttons. SMTP returns it in the form that mox's delivery code expects.
package dnsx

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"github.com/postrider/postrider/runtime/base/cache"
)

// Config configures a Resolver.
type Config struct {
	Server      string        // host:port or host of the recursive resolver; empty: those of /etc/resolv.conf
	Timeout     time.Duration // per query and server; default 3 s
	Rounds      int           // how many times to try all servers; default 2
	MaxTTL      time.Duration // maximum time to cache an answer; default 15 min
	MaxNegative time.Duration // the same for ErrNotFound; default 2 min
	CacheSize   int           // maximum number of cached answers; default 20,000
	Logger      *slog.Logger  // default: none
}

// Resolver queries the configured servers. It is safe for concurrent use.
type Resolver struct {
	cfg     Config
	servers []string // host:port, in order of preference
	trustAD bool
	cache   *cache.Cache[question, *answer] // nil: no cache
	log     *slog.Logger
}

// New returns a resolver for the configured servers. It sends no query yet.
func New(cfg Config) (*Resolver, error) {
	cfg = withDefaults(cfg)
	servers, err := serversOf(cfg.Server)
	if err != nil {
		return nil, err
	}
	return &Resolver{
		cfg:     cfg,
		servers: servers,
		trustAD: allLoopback(servers),
		cache:   newCache(cfg.CacheSize),
		log:     cfg.Logger,
	}, nil
}

// WithoutCache returns the same resolver without the cache.
func (r *Resolver) WithoutCache() *Resolver {
	fresh := *r
	fresh.cache = nil
	return &fresh
}

// Servers returns the queried servers, as host:port.
func (r *Resolver) Servers() []string { return r.servers }

// LookupTXT returns the TXT records of a name, each with its strings joined.
func (r *Resolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	a, err := r.askFollowing(ctx, name, dns.TypeTXT)
	return a.txtRecords(), err
}

// LookupCNAME returns the target of an alias, with a trailing dot, or ErrNotFound if the name is not an
// alias.
func (r *Resolver) LookupCNAME(ctx context.Context, name string) (string, error) {
	a, err := r.askExact(ctx, name, dns.TypeCNAME)
	return a.cnameTarget(), err
}

// LookupMX returns the mail hosts of a domain, by preference, in random order within one preference (RFC
// 5321, 5.1). A null MX (RFC 7505) is one record with the host ".".
func (r *Resolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	a, err := r.askFollowing(ctx, name, dns.TypeMX)
	return a.mxRecords(), err
}

// LookupNS returns the name servers of a zone.
func (r *Resolver) LookupNS(ctx context.Context, name string) ([]string, error) {
	a, err := r.askFollowing(ctx, name, dns.TypeNS)
	return a.nsHosts(), err
}

// LookupIP returns the addresses of a host, IPv4 first. If one family fails, the addresses of the other are
// still returned.
func (r *Resolver) LookupIP(ctx context.Context, name string) ([]netip.Addr, error) {
	addrs, _, err := r.lookupIP(ctx, "ip", name)
	return addrs, err
}

// LookupIPv4 returns the IPv4 addresses of a host.
func (r *Resolver) LookupIPv4(ctx context.Context, name string) ([]netip.Addr, error) {
	addrs, _, err := r.lookupIP(ctx, "ip4", name)
	return addrs, err
}

// LookupAddr returns the reverse names of an address, with trailing dots.
func (r *Resolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	name, err := dns.ReverseAddr(addr)
	if err != nil {
		return nil, notFound(question{addr, dns.TypePTR}, "", true)
	}
	a, err := r.askFollowing(ctx, name, dns.TypePTR)
	return a.ptrNames(), err
}

// lookupIP queries the families of a network: "ip", "ip4" or "ip6".
func (r *Resolver) lookupIP(ctx context.Context, network, name string) ([]netip.Addr, bool, error) {
	authentic := true
	var addrs []netip.Addr
	var failed error
	for _, family := range []struct {
		network string
		qtype   uint16
	}{{"ip4", dns.TypeA}, {"ip6", dns.TypeAAAA}} {
		if network != "ip" && network != family.network {
			continue
		}
		a, err := r.askFollowing(ctx, name, family.qtype)
		authentic = authentic && a.authentic
		addrs = append(addrs, a.addrRecords()...)
		// "No such records" of one family is less severe than a failure of the other.
		if err != nil && (failed == nil || errors.Is(failed, ErrNotFound)) {
			failed = err
		}
	}
	if len(addrs) > 0 {
		failed = nil
	}
	return addrs, authentic, failed
}
