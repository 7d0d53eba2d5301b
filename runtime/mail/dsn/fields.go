package dsn

import (
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// field is one line of a report's fields, unfolded.
type field struct {
	name  string // lower case
	value string
	gap   bool // preceded by an empty line
}

// maxFields bounds the fields kept of a report.
const maxFields = 20000

// readFields reads lines that look like fields. Other lines belong to the previous field: many gateways wrap
// long diagnostics without the white space that folding requires.
func readFields(data string) []field {
	var fields []field
	gap := false
	for line := range strings.Lines(data) {
		line = strings.TrimRight(line, "\r\n \t")
		if strings.TrimSpace(line) == "" {
			gap = true
			continue
		}
		name, value, isField := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimRight(name, " \t"))
		switch {
		case isField && fieldName(name):
			if len(fields) == maxFields {
				return fields
			}
			fields = append(fields, field{name, boundText(strings.TrimSpace(value)), gap})
			gap = false
		case len(fields) > 0 && !gap:
			if last := &fields[len(fields)-1]; len(last.value) < maxLine {
				last.value = boundText(strings.TrimSpace(last.value + " " + strings.TrimSpace(line)))
			}
		}
	}
	return fields
}

// fieldName accepts names as they occur in reports: a link, or "said:" at the start of a wrapped line, is
// not a field name.
func fieldName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	switch name {
	case "action", "status", "version", "incidents", "disposition", "error", "failure", "warning":
		return true
	}
	return strings.Contains(name, "-")
}

// firstValue returns the first value of a name.
func firstValue(fields []field, name string) string {
	for _, f := range fields {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

func allValues(fields []field, name string) []string {
	var all []string
	for _, f := range fields {
		if f.name == name && f.value != "" && len(all) < maxRecipients {
			all = append(all, oneLine(f.value))
		}
	}
	return all
}

// splitTyped splits "type; value" (RFC 3464, 2.1.2). Without a type, the whole text is the value.
func splitTyped(s string) (kind, rest string) {
	before, after, found := strings.Cut(s, ";")
	before = strings.ToLower(strings.TrimSpace(before))
	if !found || before == "" || strings.ContainsAny(before, " \t@<\"") {
		return "", strings.TrimSpace(s)
	}
	return before, strings.TrimSpace(after)
}

// hostName parses an MTA name: "dns; mx.example.net (192.0.2.1, the server …)".
func hostName(s string) string {
	_, rest := splitTyped(s)
	rest, _, _ = strings.Cut(rest, "(")
	rest = strings.TrimSpace(rest)
	if i := strings.IndexAny(rest, " \t"); i > 0 {
		rest = rest[:i]
	}
	return oneLine(strings.TrimSuffix(rest, "."))
}

// addressOf returns the address in a recipient field. A text that is not an address is kept if it may be a
// local one, and dropped otherwise.
func addressOf(s string) string {
	kind, rest := splitTyped(oneLine(s))
	if _, inner, found := strings.Cut(rest, "<"); found {
		rest, _, _ = strings.Cut(inner, ">")
	}
	rest, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
	if strings.HasPrefix(rest, "@") { // a source route (RFC 5321, appendix C)
		if _, after, found := strings.Cut(rest, ":"); found {
			rest = after
		}
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "mailto:"), "MAILTO:")
	if kind == "utf-8" || strings.Contains(rest, `\x{`) {
		rest = embeddedUnicode.ReplaceAllStringFunc(rest, decodeUnicode)
	}
	rest = decodeXtext(strings.Trim(rest, "\"'<>,;"))
	if strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) ||
		len(rest) > 500 {
		return ""
	}
	return rest
}

// embeddedUnicode matches the encoding of RFC 6533, 3: \x{FC}.
var embeddedUnicode = regexp.MustCompile(`\\x\{([0-9A-Fa-f]{2,6})\}`)

func decodeUnicode(s string) string {
	number, err := strconv.ParseUint(s[3:len(s)-1], 16, 32)
	if err != nil || !utf8.ValidRune(rune(number)) {
		return s
	}
	return string(rune(number))
}

// decodeXtext decodes xtext (RFC 3461, 4), which reporting systems should have done but some have not. It
// decodes only characters that must be encoded, and only if no such character is unencoded: joe+20years@ is
// a plain address.
func decodeXtext(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '+':
			out.WriteByte(s[i])
			continue
		case i+2 >= len(s):
			return s
		}
		octet, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil || octet != '+' && octet != '=' && octet < 0x80 || s[i+1:i+3] != strings.ToUpper(s[i+1:i+3]) {
			return s
		}
		out.WriteByte(byte(octet))
		i += 2
	}
	if decoded := out.String(); utf8.ValidString(decoded) {
		return decoded
	}
	return s
}

// parseDate returns the zero time for an invalid date.
func parseDate(s string) time.Time {
	t, err := mail.ParseDate(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// oneLine makes untrusted text safe for records.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return boundText(strings.Join(strings.Fields(s), " "))
}

// squeezeSpace normalizes text for searching.
func squeezeSpace(s string) string {
	return strings.ToLower(oneLine(strings.ReplaceAll(s, "’", "'")))
}

func boundText(s string) string {
	if len(s) <= maxLine {
		return s
	}
	return strings.ToValidUTF8(s[:maxLine], "")
}
