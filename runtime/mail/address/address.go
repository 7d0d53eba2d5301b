// Package address validates addresses and header fields.
//
// It is the only validator for every edge (REST, GraphQL, relay, templates, automations): a value accepted
// here can be written into a message or an SMTP command without further checks. Its results never contain
// CR, LF, NUL or other control characters.
//
// The grammar is the strict one of RFC 5321 section 4.1.2 with the UTF-8 extension of RFC 6531, and around
// it the `Name <a@b>` form of RFC 5322 with common deviations: an unquoted name may contain dots and any
// Unicode. Rejected, each with its own reason: comments, groups, source routes, address literals, domains
// without a dot, several addresses in one string.
//
// Errors are reasons: short sentences without a subject ("has no @"), to be shown next to a field name.
// Their text is safe to show to the client.
package address

import (
	"errors"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"
)

// Limits in bytes (RFC 5321 section 4.5.3.1, RFC 1035 section 2.3.4) and, for the name, in characters.
const (
	MaxLocal  = 64
	MaxDomain = 253
	MaxLabel  = 63
	MaxAddr   = 254
	MaxName   = 256
)

// maxInput limits the work for a string that cannot be an address.
const maxInput = 4096

// Address is a valid mailbox.
type Address struct {
	Name   string // display name, decoded, may be empty
	Local  string // local part without quotes, case kept, NFC
	Domain string // lower-case A-labels
}

// Parse parses `Name <a@b>`, `"Quoted, Name" <a@b>`, `<a@b>` or `a@b`.
//
// An encoded word (RFC 2047) in an unquoted name is decoded, because headers from the relay contain them;
// an invalid one, and one inside quotes, is kept as text. String and Parse are inverse.
func Parse(s string) (Address, error) {
	a, _, err := parseAddress(s)
	return a, err
}

// parseAddress also reports whether the address was bare, without angle brackets.
func parseAddress(s string) (a Address, bare bool, err error) {
	if len(s) > maxInput {
		return Address{}, false, fmt.Errorf("is longer than %d bytes", maxInput)
	}
	if err := checkText(s); err != nil {
		return Address{}, false, err
	}
	p := &parser{rest: s}
	p.skipSpace()
	if p.rest == "" {
		return Address{}, false, errors.New("is empty")
	}
	a, err = p.parseMailbox()
	if err != nil {
		return Address{}, false, err
	}
	p.skipSpace()
	if err := p.expectEnd(); err != nil {
		return Address{}, false, err
	}
	return a, !p.angled, nil
}

// New combines a bare address with a name that is taken literally: the form `{email, name}` of the API.
func New(name, email string) (Address, error) {
	// Checked before trimming: a trailing line break is invalid, too.
	if err := checkName(name); err != nil {
		return Address{}, err
	}
	name = strings.TrimSpace(name)
	a, bare, err := parseAddress(email)
	if err != nil {
		return Address{}, err
	}
	if !bare {
		return Address{}, errors.New("must be a bare address when the name is given apart")
	}
	a.Name = name
	return a, nil
}

// AddrSpec returns the address for SMTP and message headers: the local part quoted if necessary, the domain
// in A-labels.
func (a Address) AddrSpec() string {
	return quoteLocal(a.Local) + "@" + a.Domain
}

// String returns the form for display: the name, quoted if necessary, and the domain in Unicode if that
// maps back to the same domain.
func (a Address) String() string {
	spec := quoteLocal(a.Local) + "@" + readableDomain(a.Domain)
	if a.Name == "" {
		return spec
	}
	return quoteName(a.Name) + " <" + spec + ">"
}

// NeedsSMTPUTF8 reports whether only a server with SMTPUTF8 (RFC 6531) can accept this address: its local
// part is not ASCII, and there is no encoding for that.
func (a Address) NeedsSMTPUTF8() bool { return !isASCII(a.Local) }

// quoteLocal writes a local part as a dot-string if possible, else as a quoted string (RFC 5321 section
// 4.1.2).
func quoteLocal(local string) string {
	if checkDotString(local) == nil {
		return local
	}
	return quoteString(local)
}

// quoteName quotes a display name so that Parse returns the same name. Text that looks like an encoded word
// is quoted to stay literal.
func quoteName(name string) string {
	plain := !strings.Contains(name, "=?") && !strings.Contains(name, "  ")
	for i := 0; plain && i < len(name); i++ {
		plain = name[i] == ' ' || name[i] == '.' || isAtom(name[i])
	}
	if plain {
		return name
	}
	return quoteString(name)
}

func quoteString(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
	return b.String()
}

// isAtom reports whether a byte is atext of RFC 5322 section 3.2.3, including UTF8-non-ascii of RFC 6532.
func isAtom(c byte) bool {
	switch {
	case c >= utf8.RuneSelf, c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

var words = mime.WordDecoder{CharsetReader: charsetReader}
