package post

import (
	"context"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/postrider/postrider/runtime/mail/address"
)

const (
	maxURL = 2048
	// lookupTimeout bounds the look at DNS when an endpoint is made or changed. It is
	// a service to whoever mistypes; the guard that counts is the one at dial time.
	lookupTimeout = 2 * time.Second
)

// checkURL gives what is wrong with the form of an endpoint's URL, or "", and the host
// as it is looked up: in lower case, A-labels, no dot at its end.
func checkURL(text string, plainLoopback bool) (host, wrong string) {
	if text == "" {
		return "", "is required"
	}
	if len(text) > maxURL {
		return "", "has more than " + strconv.Itoa(maxURL) + " octets"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", "contains white space or control characters"
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "", "is not a URL such as https://example.com/hooks"
	case u.User != nil:
		return "", "must not hold a user name or password; check the signature instead"
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return "", "must not have a fragment (#…)"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", "has a port that is not between 1 and 65535"
		}
	}
	if host, wrong = checkHost(u.Hostname()); wrong != "" {
		return "", wrong
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && plainLoopback && onThisMachine(host):
	case u.Scheme == "http" && plainLoopback:
		return "", "must be https://; http:// only to this machine, in development"
	default:
		return "", "must be https://"
	}
	return host, ""
}

func checkHost(host string) (canonical, wrong string) {
	if _, err := netip.ParseAddr(host); err == nil {
		return host, ""
	}
	const notTaken = "has an IP address in a form that is not accepted; write it with four decimal parts"
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if endsInNumber(name) {
		return "", notTaken
	}
	if onThisMachine(name) {
		return name, ""
	}
	name, err := address.ParseDomain(name)
	switch {
	case err != nil:
		return "", "has no valid host name"
	case endsInNumber(name): // it was written in digits of another script
		return "", notTaken
	}
	return name, ""
}

// endsInNumber tells whether a name is an address to some resolvers, as 127.1 and
// 0x7f000001 are, by the rule that browsers have (WHATWG URL, "ends in a number").
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if digits, hexadecimal := strings.CutPrefix(last, "0x"); hexadecimal {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

func onThisMachine(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

const refusedHost = "leads to a private, local or reserved address"

// Refusal returns what is wrong with the URL of an endpoint and with where it leads, or "". A
// host that cannot be looked up now is taken: it may be there when it is needed.
func (p *Poster) Refusal(ctx context.Context, text string) string {
	host, reason := checkURL(text, p.plainLoopback)
	if reason == "" {
		reason = p.checkTarget(ctx, host)
	}
	return reason
}

// checkTarget returns what is wrong with where a host leads, or "".
func (p *Poster) checkTarget(ctx context.Context, host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		if p.guard.Allowed(addr) != nil {
			return refusedHost
		}
		return ""
	}
	if onThisMachine(host) {
		if p.guard.Allowed(netip.AddrFrom4([4]byte{127, 0, 0, 1})) != nil {
			return refusedHost
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := p.lookup(ctx, host)
	if err != nil || len(addrs) == 0 {
		return ""
	}
	for _, addr := range addrs {
		if p.guard.Allowed(addr.Unmap()) == nil {
			return ""
		}
	}
	return refusedHost
}
