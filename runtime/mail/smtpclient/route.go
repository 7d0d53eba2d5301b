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
)

// route is where a message may go, and what must be proven there.
type route struct {
	key       routeKey
	hosts     []target // in the order of trying
	smarthost *Smarthost
	tls       tlsDemand
}

// target is a mail host before its addresses are known.
type target struct {
	name     string // A-labels or an address; also the name a certificate must have
	port     int
	implicit bool // the recipient's domain itself, for lack of MX records
}

// tlsDemand is how sessions of a route do TLS.
type tlsDemand struct {
	mode         mox.TLSMode
	verify       bool
	enforced     bool        // by the envelope: without TLS the message fails
	clearAllowed bool        // a failed handshake may be followed by none
	config       *tls.Config // instead of mox's, which reports and verifies for MX hosts
}

var silent = slog.New(slog.DiscardHandler)

func (t *Transport) route(ctx context.Context, c consignment) (route, *Outcome) {
	if t.cfg.Smarthost != nil {
		return t.smarthostRoute(c), nil
	}
	hosts, out := t.mailHosts(ctx, c.domain)
	if out != nil {
		return route{}, out
	}
	rt := route{hosts: hosts, tls: tlsDemand{mode: mox.TLSOpportunistic, clearAllowed: true}}
	if c.enforced {
		rt.tls = tlsDemand{mode: mox.TLSRequiredStartTLS, verify: true, enforced: true}
	}
	rt.key = keyOf("mx", rt)
	return rt, nil
}

func (t *Transport) smarthostRoute(c consignment) route {
	h := t.cfg.Smarthost
	demand := tlsDemand{mode: mox.TLSOpportunistic, enforced: c.enforced}
	switch {
	case h.Implicit:
		demand.mode = mox.TLSImmediate
	case c.enforced || h.Username != "" && !h.local():
		demand.mode = mox.TLSRequiredStartTLS
	}
	demand.clearAllowed = demand.mode == mox.TLSOpportunistic
	demand.verify = !h.Unverified && (c.enforced || !h.local() && demand.mode != mox.TLSOpportunistic)
	// mox verifies no address in a certificate, and a smarthost may be named by its address.
	demand.config = &tls.Config{
		ServerName: h.Host, RootCAs: t.cfg.RootCAs, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: !demand.verify, //nolint:gosec // opportunistic TLS, RFC 7435: unverified is better than in clear
	}
	rt := route{hosts: []target{{name: h.Host, port: h.Port}}, smarthost: h, tls: demand}
	rt.key = keyOf("smarthost", rt)
	return rt
}

func keyOf(kind string, rt route) routeKey {
	hosts := make([]string, 0, len(rt.hosts))
	for _, h := range rt.hosts {
		hosts = append(hosts, net.JoinHostPort(h.name, strconv.Itoa(h.port)))
	}
	slices.Sort(hosts)
	return routeKey{hosts: kind + " " + strings.Join(hosts, " "), tls: fmt.Sprintf("%s verify=%v", rt.tls.mode, rt.tls.verify)}
}

// mailHosts finds the hosts of a domain (RFC 5321, 5.1).
func (t *Transport) mailHosts(ctx context.Context, domain string) ([]target, *Outcome) {
	haveMX, _, _, expanded, prefs, permanent, err := mox.GatherDestinations(ctx, silent, t.resolver,
		moxdns.IPDomain{Domain: moxdns.Domain{ASCII: domain}})
	if err != nil && permanent && t.isNullMX(ctx, expanded.ASCII) {
		out := failed(PhaseDNS, ReasonNullMX, "%s accepts no mail (null MX)", domain) // RFC 7505
		return nil, &out
	}
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		out := temporary(PhaseDNS, err)
		return nil, &out
	}
	hosts := make([]target, 0, len(prefs))
	for _, p := range prefs {
		hosts = append(hosts, target{name: p.Host.Domain.ASCII, port: t.cfg.MXPort, implicit: !haveMX})
	}
	return hosts, nil
}

// GatherDestinations says "permanent" also of unusable host names.
func (t *Transport) isNullMX(ctx context.Context, domain string) bool {
	mx, err := t.cfg.Resolver.LookupMX(ctx, domain)
	return err == nil && len(mx) == 1 && mx[0].Host == "."
}

// addresses finds the addresses of a host.
func (t *Transport) addresses(ctx context.Context, rt route, host target) ([]netip.AddrPort, *Outcome) {
	ips, err := t.lookup(ctx, rt, host.name)
	if err == nil {
		addrs := make([]netip.AddrPort, 0, len(ips))
		for _, ip := range ips {
			addrs = append(addrs, netip.AddrPortFrom(ip.Unmap(), uint16(host.port)))
		}
		return addrs, nil
	}
	var out Outcome
	switch {
	case ctx.Err() != nil:
		out = temporary(PhaseDNS, fmt.Errorf("%w: %w", context.Cause(ctx), err))
	case moxdns.IsNotFound(err) && host.implicit:
		// Neither mail host nor address: nobody is there to deliver to (RFC 5321, 5.1).
		out = failed(PhaseDNS, ReasonNoSuchDomain, "%s has no mail host and no address", host.name)
	default:
		out = temporary(PhaseDNS, fmt.Errorf("mail host %s: %w", host.name, err))
	}
	out = out.from(host, "")
	return nil, &out
}

func (t *Transport) lookup(ctx context.Context, rt route, name string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(name); err == nil && rt.smarthost != nil {
		return []netip.Addr{addr}, nil
	}
	if strings.EqualFold(name, "localhost") { // never asked of the DNS (RFC 6761, 6.3)
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	_, _, _, ips, _, err := mox.GatherIPs(ctx, silent, t.resolver, "ip", moxdns.IPDomain{Domain: moxdns.Domain{ASCII: name}}, nil)
	if moxdns.IsNotFound(err) && rt.smarthost != nil {
		// An operator may have named it in /etc/hosts.
		addrs, hostsErr := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		if hostsErr != nil {
			return nil, errors.Join(err, hostsErr)
		}
		return addrs, nil
	}
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, 0, len(ips))
	for _, ip := range ips {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			addrs = append(addrs, addr)
		}
	}
	return addrs, nil
}
