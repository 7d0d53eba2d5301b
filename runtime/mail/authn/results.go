package authn

import (
	"strings"

	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/message"
)

const resultsField = "Authentication-Results"

// RemoveForgedResults returns the header without the Authentication-Results fields that claim to come from one of
// the hosts. A border server must remove them (RFC 8601 section 5), because programs trust the fields of their own
// server. Fields of other hosts are kept.
func RemoveForgedResults(header []message.Field, hosts ...string) []message.Field {
	ours := map[string]bool{}
	for _, host := range hosts {
		if host != "" {
			ours[canonicalHost(host)] = true
		}
	}
	kept := header[:0:0]
	for _, field := range header {
		if !strings.EqualFold(field.Name, resultsField) || !ours[canonicalHost(parseServiceID(field.Value))] {
			kept = append(kept, field)
		}
	}
	return kept
}

// canonicalHost returns the form in which two spellings of a host name are equal.
func canonicalHost(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if domain, err := address.ParseDomain(name); err == nil {
		return domain
	}
	return name
}

// parseServiceID returns the authserv-id of an Authentication-Results value: its first token or quoted string,
// after white space and comments. It is empty if the value has none.
func parseServiceID(value string) string {
	value = skipComments(value)
	if !strings.HasPrefix(value, `"`) {
		end := strings.IndexFunc(value,
			func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?=`, r) })
		if end >= 0 {
			value = value[:end]
		}
		return value
	}
	var id strings.Builder
	escaped := false
	for _, c := range value[1:] {
		switch {
		case !escaped && c == '\\':
			escaped = true
			continue
		case !escaped && c == '"':
			return strings.TrimSpace(id.String())
		}
		escaped = false
		id.WriteRune(c)
	}
	return strings.TrimSpace(id.String())
}

// skipComments returns the value after leading white space and comments, which can be nested.
func skipComments(value string) string {
	depth, escaped := 0, false
	for i, c := range value {
		switch {
		case escaped:
			escaped = false
		case c == '(':
			depth++
		case depth > 0 && c == ')':
			depth--
		case depth > 0 && c == '\\':
			escaped = true
		case depth == 0 && c > ' ':
			return value[i:]
		}
	}
	return ""
}
