// Package weburl normalizes the URLs in a message, so that a tracked link leads to the page that a browser
// would have opened without tracking.
package weburl

import (
	"strings"

	"golang.org/x/net/idna"
)

// Schemes that are tracked, and the maximum length of a normalized URL in bytes.
const (
	Plain   = "http://"
	TLS     = "https://"
	Longest = 2048
)

// Normalize returns the ASCII form of the URL that a browser would open. It returns false for anything that
// must not be tracked: anything but an absolute http or https URL, and anything that Normalize might interpret
// differently from a browser (backslashes, braces of a template). Normalizing a normalized URL does not change
// it.
//
// It follows the URL Standard: surrounding spaces and inner line breaks are ignored (4.4, "basic URL parser"),
// names are converted to A-labels, and other bytes are escaped.
func Normalize(written string) (target string, ok bool) {
	if strings.ContainsAny(written, "\t\r\n") {
		written = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(written)
	}
	written = strings.TrimFunc(written, func(r rune) bool { return r <= ' ' })
	scheme := schemeOf(written)
	if scheme == "" || strings.ContainsRune(written, '\\') || strings.Contains(written, "{{") {
		return "", false
	}
	rest := written[len(scheme):]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, ok := authorityOf(rest[:end])
	if !ok {
		return "", false
	}
	target = scheme + authority + escapeUnsafe(rest[end:])
	return target, len(target) <= Longest
}

// schemeOf returns http:// or https:// if the URL begins with it, in any case.
func schemeOf(address string) string {
	for _, scheme := range []string{Plain, TLS} {
		if len(address) >= len(scheme) && strings.EqualFold(address[:len(scheme)], scheme) {
			return scheme
		}
	}
	return ""
}

// authorityOf validates user, host and port. It converts a non-ASCII host to A-labels.
func authorityOf(text string) (string, bool) {
	user, host := "", text
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		user, host = text[:at+1], text[at+1:]
	}
	port := ""
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:colon], host[colon:]
		if strings.Trim(port[1:], "0123456789") != "" {
			return "", false
		}
	}
	if host == "" || strings.ContainsAny(host, " %<>\"^`{|}") || strings.ContainsFunc(host, isControl) ||
		escapeUnsafe(user) != user {
		return "", false
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil || ascii == "" {
			return "", false
		}
		host = ascii
	}
	return user + host + port, true
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

const upperHex = "0123456789ABCDEF"

// escapeUnsafe percent-encodes characters that are not safe in a header field or an attribute.
func escapeUnsafe(text string) string {
	plain := func(c byte) bool {
		return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' && c != '`'
	}
	first := 0
	for first < len(text) && plain(text[first]) {
		first++
	}
	if first == len(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text) + 16)
	out.WriteString(text[:first])
	for i := first; i < len(text); i++ {
		if c := text[i]; plain(c) {
			out.WriteByte(c)
		} else {
			out.WriteByte('%')
			out.WriteByte(upperHex[c>>4])
			out.WriteByte(upperHex[c&15])
		}
	}
	return out.String()
}
