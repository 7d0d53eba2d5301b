package dnsprovider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/libdns/libdns"
)

// Record is a DNS record, in a common format for all providers.
type Record struct {
	Type     string // upper case
	Name     string // fully qualified, lower case, without the final dot
	Value    string // TXT: the strings joined, unquoted; CNAME, MX, NS: the host, lower case, without the final dot
	Priority uint16 // MX only
	TTL      time.Duration

	raw libdns.Record // as returned by the provider, for exact deletion
}

// Text returns the value for display, including the priority of an MX.
func (r Record) Text() string {
	if r.Type == "MX" {
		return fmt.Sprintf("%d %s", r.Priority, r.Value)
	}
	return r.Value
}

// equals reports whether two records are equivalent. The TTL does not matter, nor does the priority of an MX if
// its host is the only one.
func (r Record) equals(other Record) bool {
	return r.Type == other.Type && r.Name == other.Name && r.Value == other.Value
}

// style describes how a provider's library expects and returns values.
type style struct {
	quoted          bool // TXT is written as "string" "string", each of at most 255 bytes
	quotedLong      bool // … only if it does not fit one string
	relativeTargets bool // a host without a final dot is relative to the zone
	ownTTL          bool // a TTL may only be set with the first record of a set
	txtTypes        []string
}

// read converts a record returned by a library.
func (s style) read(zone string, given libdns.Record) Record {
	rr := given.RR()
	r := Record{Type: strings.ToUpper(rr.Type), Name: canonicalName(libdns.AbsoluteName(rr.Name, zone)), Value: rr.Data,
		TTL: rr.TTL, raw: given}
	if slices.Contains(s.txtTypes, r.Type) {
		r.Type = "TXT"
	}
	switch r.Type {
	case "TXT":
		r.Value = joinStrings(rr.Data)
	case "CNAME", "NS", "DNAME":
		r.Value = s.host(rr.Data, zone)
	case "MX":
		host := strings.TrimSpace(rr.Data)
		var priority uint16
		if n, err := fmt.Sscanf(rr.Data, "%d %s", &priority, &host); n == 2 && err == nil {
			r.Priority = priority
		}
		r.Value = s.host(host, zone)
	}
	return r
}

func (s style) host(given, zone string) string {
	given = strings.TrimSpace(given)
	switch {
	case given == "@":
		given = zone
	case s.relativeTargets && given != "" && !strings.HasSuffix(given, "."):
		given += "." + zone
	}
	return canonicalName(given)
}

// write converts a record for a library. A set has one TTL (RFC 2181 section 5.2), so a record that joins
// others uses theirs.
func (s style) write(zone string, r Record, beside []Record) libdns.Record {
	name := strings.TrimSuffix(strings.TrimSuffix(r.Name, canonicalName(zone)), ".")
	if name == "" {
		name = "@"
	}
	ttl := r.TTL
	for _, other := range beside {
		if other.Name != r.Name || other.Type != r.Type {
			continue
		}
		switch {
		case s.ownTTL:
			ttl = 0
		case other.TTL > 0:
			ttl = other.TTL
		}
	}
	switch r.Type {
	case "TXT":
		text := r.Value
		if s.quoted || s.quotedLong && len(text) > maxString {
			text = quoteStrings(text)
		}
		return libdns.TXT{Name: name, TTL: ttl, Text: text}
	case "CNAME":
		return libdns.CNAME{Name: name, TTL: ttl, Target: r.Value + "."}
	case "MX":
		return libdns.MX{Name: name, TTL: ttl, Preference: r.Priority, Target: r.Value + "."}
	default:
		return libdns.RR{Name: name, TTL: ttl, Type: r.Type, Data: r.Value}
	}
}

// exact returns a record in the form by which the library finds it again. A library that removes the
// outermost quotes of several strings needs the quotes to find them.
func (s style) exact(r libdns.Record) libdns.Record {
	text, ok := r.(libdns.TXT)
	if ok && s.quotedLong && seam.MatchString(text.Text) && !strings.HasPrefix(text.Text, `"`) {
		text.Text = `"` + text.Text + `"`
		return text
	}
	return r
}

// maxString is the maximum length of a character string in a record (RFC 1035 section 3.3).
const maxString = 255

// quoteStrings writes text in zone file format.
func quoteStrings(text string) string {
	var out strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for len(text) > 0 || out.Len() == 0 {
		n := min(len(text), maxString)
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(`"` + escape.Replace(text[:n]) + `"`)
		text = text[n:]
	}
	return out.String()
}

// Between two strings, even if a library has removed the outermost quotes.
var seam = regexp.MustCompile(`"[ \t\r\n]+"`)

var unescape = strings.NewReplacer(`\;`, `;`, `\"`, `"`, `\\`, `\`)

// joinStrings reverts quoteStrings. It does not change unquoted text.
func joinStrings(data string) string {
	data = strings.TrimSpace(data)
	if len(data) > 1 && strings.HasPrefix(data, `"`) && strings.HasSuffix(data, `"`) {
		data = data[1 : len(data)-1]
	}
	return unescape.Replace(seam.ReplaceAllString(data, ""))
}

// canonicalName returns a name in comparable form: DNS ignores ASCII case, and a final dot only means that the
// name is complete (RFC 4343, RFC 1034 section 3.1).
func canonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
