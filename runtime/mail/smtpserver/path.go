package smtpserver

import (
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Path is an address of the envelope. It is zero for the null sender.
type Path struct {
	Local  string // without quotes
	Domain string // as received; a literal keeps its brackets
}

// IsNull reports whether this is the null sender.
func (p Path) IsNull() bool { return p == Path{} }

// String returns the address as written in a command or header, with a quoted local part if necessary.
func (p Path) String() string {
	if p.IsNull() {
		return ""
	}
	return quoteLocal(p.Local) + "@" + p.Domain
}

// ASCII reports whether the address can be sent to a server without SMTPUTF8.
func (p Path) ASCII() bool { return isASCII(p.Local) && isASCII(p.Domain) }

// parsePath parses an address that go-smtp has unquoted: `"a b"@x` is passed as `a b@x`. go-smtp's own
// grammar accepts nearly everything, so this is the strict one of RFC 5321, 4.1.2.
func parsePath(s string) (Path, bool) {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s)-at-1 > 255 || !utf8.ValidString(s) {
		return Path{}, false
	}
	p := Path{Local: s[:at], Domain: s[at+1:]}
	for _, r := range p.Local {
		if r < ' ' || r == 0x7f {
			return Path{}, false
		}
	}
	return p, validDomain(p.Domain)
}

func validDomain(d string) bool {
	if literal, ok := strings.CutPrefix(d, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		if after, v6 := strings.CutPrefix(literal, "IPv6:"); v6 {
			literal = after
		}
		_, err := netip.ParseAddr(literal)
		return ok && err == nil && !strings.Contains(literal, "%")
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(d, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			// Underscores are not valid in host names, but some senders have them.
			if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' &&
				r < utf8.RuneSelf {
				return false
			}
		}
	}
	return true
}

func quoteLocal(local string) string {
	plain := !strings.HasPrefix(local, ".") && !strings.HasSuffix(local, ".") && !strings.Contains(local, "..")
	for _, r := range local {
		plain = plain && (r >= utf8.RuneSelf || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r))
	}
	if plain {
		return local
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(local) + `"`
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
