package egress

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/postrider/postrider/runtime/mail/address"
)

// maxURL is the maximum length of a URL in bytes.
const maxURL = 2048

// CheckURL checks the syntax of a URL that we are asked to call. It returns the problem, or "", and the host
// in the form used for the lookup: in lower case, with A-labels, without a trailing dot. With plainLoopback,
// it also accepts http:// to this machine. The guard checks the addresses of the host.
func CheckURL(text string, plainLoopback bool) (host, wrong string) {
	if text == "" {
		return "", "is required"
	}
	if len(text) > maxURL {
		return "", "has more than " + strconv.Itoa(maxURL) + " bytes"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", "contains white space or control characters"
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "", "is not a URL such as https://example.com/hooks"
	case u.User != nil:
		return "", "cannot contain a user name or password; verify the signature instead"
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
	case u.Scheme == "http" && plainLoopback && IsLocalhost(host):
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
	const notTaken = "has an IP address in an unsupported form; use four decimal parts"
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if endsInNumber(name) {
		return "", notTaken
	}
	if IsLocalhost(name) {
		return name, ""
	}
	name, err := address.ParseDomain(name)
	switch {
	case err != nil:
		return "", "has no valid host name"
	case endsInNumber(name): // it contains digits of another script
		return "", notTaken
	}
	return name, ""
}

// endsInNumber reports whether some resolvers treat a name as an address, for example 127.1 and 0x7f000001.
// This is the rule of browsers (WHATWG URL, "ends in a number").
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if digits, hexadecimal := strings.CutPrefix(last, "0x"); hexadecimal {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// IsLocalhost reports whether a host is this machine, by name or address.
func IsLocalhost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// WithLocalhost returns a lookup that resolves the names of this machine itself and passes all others to
// lookup, because localhost must not be looked up in DNS (RFC 6761 section 6.3). A nil lookup is the system's
// resolver. The guard also checks these addresses.
func WithLocalhost(lookup func(context.Context,
	string) ([]netip.Addr, error)) func(context.Context, string) ([]netip.Addr, error) {
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		if IsLocalhost(strings.ToLower(strings.TrimSuffix(host, "."))) {
			return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
		}
		return lookup(ctx, host)
	}
}
