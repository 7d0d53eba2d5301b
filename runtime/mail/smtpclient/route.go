package smtpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	moxdns "github.com/mjl-/mox/dns"
	mox "github.com/mjl-/mox/smtpclient"

	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/mtasts"
)

// route is the set of possible hosts for a message, and the TLS requirements.
type route struct {
	key       routeKey
	hosts     []target // in the order of trying
	set       lane.Set
	way       Way
	smarthost *Smarthost
	tls       tlsDemand // for hosts without stricter requirements of their own
	destination
	sts *mtasts.Policy // of the recipient's domain; may be nil
}

// destination is the DNS data of the recipient's domain.
type destination struct {
	domain, expanded moxdns.Domain // the recipient's domain, and the target if it is an alias
	haveMX           bool
	secure           bool // the host names are authenticated by DNSSEC
	expandedSecure   bool // the expanded name is, too
}

// target is a mail host before its addresses are known.
type target struct {
	name     string // A-labels or an address; also the name required in a certificate
	port     int
	implicit bool // the recipient's domain itself, because it has no MX records
}

var silent = slog.New(slog.DiscardHandler)

func (t *Transport) routeOf(ctx context.Context, c mailRequest) (route, *Outcome) {
	way := t.completeWay(c.way)
	if way.Smarthost != nil {
		return t.smarthostRoute(c, way), nil
	}
	hosts, to, out := t.mailHosts(ctx, c.domain)
	if out != nil {
		return route{}, out
	}
	rt := route{hosts: hosts, set: setOf(hosts), way: way, destination: to, sts: t.stsPolicy(ctx, c.domain)}
	rt.tls = demandOf(c, rt.sts)
	rt.key = keyOf("mx", rt)
	return rt, nil
}

func setOf(hosts []target) lane.Set {
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, h.name)
	}
	return lane.NewSet(names...)
}

func (t *Transport) smarthostRoute(c mailRequest, way Way) route {
	h := way.Smarthost
	c.enforced = c.enforced && !h.InProcess
	demand := tlsDemand{policy: PolicyOpportunistic, mode: mox.TLSOpportunistic, enforced: c.enforced}
	switch {
	case h.Implicit:
		demand.mode = mox.TLSImmediate
	case c.enforced || h.Username != "" && !h.isLocal():
		demand.mode = mox.TLSRequiredStartTLS
	}
	demand.clearAllowed = demand.mode == mox.TLSOpportunistic
	demand.verify = !h.Unverified && (c.enforced || !h.isLocal() && demand.mode != mox.TLSOpportunistic)
	if c.enforced || demand.verify {
		demand.policy = PolicyEnforced
	}
	// mox verifies no address in a certificate, and a smarthost may be configured by its address.
	demand.config = &tls.Config{
		ServerName: h.Host, RootCAs: t.cfg.RootCAs, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: !demand.verify, //nolint:gosec // opportunistic TLS, RFC 7435: unverified is better than plaintext
	}
	rt := route{hosts: []target{{name: h.Host, port: h.Port}}, set: h.Set(), way: way, smarthost: h, tls: demand}
	rt.key = keyOf("smarthost", rt)
	rt.key.smarthost = *h
	return rt
}

func keyOf(kind string, rt route) routeKey {
	hosts := make([]string, 0, len(rt.hosts))
	for _, h := range rt.hosts {
		name := net.JoinHostPort(h.name, strconv.Itoa(h.port))
		if rt.sts != nil && rt.sts.Enforce && !rt.sts.Allows(h.name) {
			name = "not " + name // a connection to it may belong to another domain
		}
		hosts = append(hosts, name)
	}
	slices.Sort(hosts)
	return routeKey{hosts: kind + " " + strings.Join(hosts, " "),
		tls: fmt.Sprintf("%s secure=%v", rt.tls.demandKey(), rt.secure), way: rt.way.wayKey()}
}

// mailHosts returns the hosts of a domain (RFC 5321, 5.1).
func (t *Transport) mailHosts(ctx context.Context, domain string) ([]target, destination, *Outcome) {
	to := destination{domain: moxdns.Domain{ASCII: domain}}
	haveMX, secure, expandedSecure, expanded, prefs, permanent, err := mox.GatherDestinations(ctx, silent, t.resolver,
		moxdns.IPDomain{Domain: to.domain})
	if err != nil && permanent && t.isNullMX(ctx, expanded.ASCII) {
		out := newFailure(PhaseDNS, ReasonNullMX, "%s accepts no mail (null MX)", domain) // RFC 7505
		return nil, to, &out
	}
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		out := newTemporary(PhaseDNS, err)
		return nil, to, &out
	}
	hosts := make([]target, 0, len(prefs))
	for _, p := range prefs {
		hosts = append(hosts, target{name: p.Host.Domain.ASCII, port: t.cfg.MXPort, implicit: !haveMX})
	}
	to.haveMX, to.expanded, to.expandedSecure = haveMX, expanded, expandedSecure
	to.secure = secure && (!haveMX || expandedSecure) // RFC 7672, 2.2.1
	return hosts, to, nil
}

// isNullMX reports whether the domain has a null MX. GatherDestinations also returns "permanent" for unusable host
// names.
func (t *Transport) isNullMX(ctx context.Context, domain string) bool {
	mx, err := t.cfg.Resolver.LookupMX(ctx, domain)
	return err == nil && len(mx) == 1 && mx[0].Host == "."
}

// addresses contains the addresses of a host, and whether they are authenticated.
type addresses struct {
	ips               []netip.Addr
	expanded          moxdns.Domain // the target if the host's name is an alias
	authentic         bool          // authenticated by DNSSEC
	expandedAuthentic bool
}

// resolveHost returns the addresses of a host and the TLS requirement there.
func (t *Transport) resolveHost(ctx context.Context, rt route, host target) ([]netip.AddrPort, tlsDemand, *Outcome) {
	found, err := t.lookupHost(ctx, rt, host.name)
	if err != nil {
		return nil, tlsDemand{}, t.lookupFailure(ctx, host, err)
	}
	demand, out := t.hostDemand(ctx, rt, host, found)
	if out != nil {
		from := out.withHost(host, "")
		return nil, tlsDemand{}, &from
	}
	addrs := make([]netip.AddrPort, 0, len(found.ips))
	for _, ip := range found.ips {
		addrs = append(addrs, netip.AddrPortFrom(ip.Unmap(), uint16(host.port)))
	}
	return addrs, demand, nil
}

func (t *Transport) lookupFailure(ctx context.Context, host target, err error) *Outcome {
	var out Outcome
	switch {
	case ctx.Err() != nil:
		out = newTemporary(PhaseDNS, fmt.Errorf("%w: %w", context.Cause(ctx), err))
	case moxdns.IsNotFound(err) && host.implicit:
		// Neither mail host nor address: delivery is impossible (RFC 5321, 5.1).
		out = newFailure(PhaseDNS, ReasonNoSuchDomain, "%s has no mail host and no address", host.name)
	default:
		out = newTemporary(PhaseDNS, fmt.Errorf("mail host %s: %w", host.name, err))
	}
	out = out.withHost(host, "")
	return &out
}

func (t *Transport) lookupHost(ctx context.Context, rt route, name string) (addresses, error) {
	if addr, err := netip.ParseAddr(name); err == nil && rt.smarthost != nil {
		return addresses{ips: []netip.Addr{addr}}, nil
	}
	if strings.EqualFold(name, "localhost") { // never looked up in the DNS (RFC 6761, 6.3)
		return addresses{ips: []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}}, nil
	}
	authentic, expandedAuthentic, expanded, ips, _, err := mox.GatherIPs(ctx, silent, t.resolver, "ip",
		moxdns.IPDomain{Domain: moxdns.Domain{ASCII: name}}, nil)
	if moxdns.IsNotFound(err) && rt.smarthost != nil {
		// It may be listed in /etc/hosts.
		addrs, hostsErr := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		if hostsErr != nil {
			return addresses{}, errors.Join(err, hostsErr)
		}
		return addresses{ips: addrs}, nil
	}
	if err != nil {
		return addresses{}, err
	}
	found := addresses{expanded: expanded, authentic: authentic, expandedAuthentic: expandedAuthentic}
	for _, ip := range ips {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			found.ips = append(found.ips, addr)
		}
	}
	return found, nil
}
