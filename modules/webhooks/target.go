package webhooks

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

// checkURL gives what is wrong with the form of an endpoint's URL, or "".
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
		return "", "is no URL such as https://example.com/hooks"
	case u.User != nil:
		return "", "must not hold a user name or password; check the signature instead"
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return "", "must not have a fragment (#…)"
	}
	host = u.Hostname()
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", "has a port that is none"
		}
	}
	if reason := checkHost(host); reason != "" {
		return "", reason
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

func checkHost(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	name := strings.TrimSuffix(host, ".")
	// 127.1 and 0x7f000001 are addresses to some resolvers and names to others.
	if last := name[strings.LastIndexByte(name, '.')+1:]; endsInNumber(last) {
		return "has an address in a form that is not taken; write it with four decimal parts"
	}
	if onThisMachine(name) {
		return ""
	}
	if _, err := address.ParseDomain(name); err != nil {
		return "has no valid host name"
	}
	return ""
}

func endsInNumber(label string) bool {
	if label == "" {
		return false
	}
	_, err := strconv.ParseUint(label, 0, 64)
	return err == nil || strings.Trim(label, "0123456789") == ""
}

func onThisMachine(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

const refusedHost = "leads to a private, local or reserved address"

// checkTarget gives what is wrong with where a URL leads, or "". A host that cannot
// be looked up now may be there when it is needed.
func (s *Service) checkTarget(ctx context.Context, host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		if s.guard.Allowed(addr) != nil {
			return refusedHost
		}
		return ""
	}
	if onThisMachine(strings.TrimSuffix(host, ".")) {
		if s.guard.Allowed(netip.AddrFrom4([4]byte{127, 0, 0, 1})) != nil {
			return refusedHost
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := s.lookup(ctx, host)
	if err != nil || len(addrs) == 0 {
		return ""
	}
	for _, addr := range addrs {
		if s.guard.Allowed(addr.Unmap()) == nil {
			return ""
		}
	}
	return refusedHost
}
