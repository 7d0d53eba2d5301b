package message

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/mail/address"
)

// mailbox is an address of an address field, as written.
type mailbox struct {
	name string // decoded
	said string // the raw text, without quotes
	spec string // in angle brackets, or bare; not validated
	raw  string // unchanged
}

// parseMailboxes parses an address field (RFC 5322, 3.4), reading each byte once or twice. Groups are flattened.
// An invalid address does not affect the others. more reports whether there are over maxList.
func parseMailboxes(value string) (list []mailbox, more bool) {
	s := listScanner{quotes: strings.Count(value, `"`)%2 == 0 || strings.Contains(value, `\"`)}
	for i := 0; i < len(value); i++ {
		i += s.scanByte(value[i:])
		if len(s.list) > maxList {
			return s.list[:maxList], true
		}
	}
	if s.quoted { // to the end: it was a mere character
		return parseMailboxes(strings.ReplaceAll(value, `"`, ""))
	}
	s.endAddress()
	return s.list, false
}

// listScanner is the state within an address.
type listScanner struct {
	list    []mailbox
	quotes  bool // quotation marks are significant
	quoted  bool
	angled  bool
	hasSpec bool
	hasAt   bool
	depth   int // nesting of comments

	raw     strings.Builder // without comments
	phrase  strings.Builder // without quotes as well
	spec    strings.Builder // between angle brackets
	comment strings.Builder // the first
	noted   bool            // the first comment has ended
}

// scanByte processes one byte and returns how many more it has consumed.
func (s *listScanner) scanByte(rest string) int {
	c := rest[0]
	switch {
	case c == '\\' && (s.quoted || s.depth > 0) && len(rest) > 1:
		if s.depth == 0 {
			s.raw.WriteString(rest[:2])
			s.scanQuoted(rest[1])
		}
		return 1
	case c == '"' && s.depth == 0 && !s.quotes: // one that is not closed
	case c == '"' && s.depth == 0:
		s.quoted = !s.quoted
		s.raw.WriteByte(c)
		if s.angled {
			s.spec.WriteByte(c)
		}
	case s.quoted:
		s.raw.WriteByte(c)
		s.scanQuoted(c)
	case c == '(':
		s.depth++
	case c == ')' && s.depth > 0:
		s.depth--
		s.noted = s.depth == 0
	case s.depth > 0:
		if !s.noted {
			s.comment.WriteByte(c)
		}
	default:
		s.scanPlain(c)
	}
	return 0
}

// scanQuoted processes a byte of a quoted string.
func (s *listScanner) scanQuoted(c byte) {
	if s.angled {
		s.spec.WriteByte(c)
	} else {
		s.phrase.WriteByte(c)
	}
}

func (s *listScanner) scanPlain(c byte) {
	switch {
	case c == '<' && !s.hasSpec:
		s.angled, s.hasSpec = true, true
		s.raw.WriteByte(c)
	case c == '>' && s.angled:
		s.angled = false
		s.raw.WriteByte(c)
	case (c == ',' || c == ';') && (!s.angled || s.spec.Len() == 0 || s.spec.String()[0] != '@'):
		s.endAddress()
	case c == ':' && !s.hasSpec && !s.hasAt: // the name of a group
		s.resetAddress()
	case s.angled:
		s.spec.WriteByte(c)
		s.raw.WriteByte(c)
	default:
		s.hasAt = s.hasAt || c == '@'
		s.phrase.WriteByte(c)
		s.raw.WriteByte(c)
	}
}

// endAddress ends an address.
func (s *listScanner) endAddress() {
	raw := strings.TrimSpace(s.raw.String())
	box := mailbox{raw: raw}
	switch {
	case s.hasSpec:
		box.spec, box.said = withoutRoute(s.spec.String()), s.phrase.String()
	case strings.Contains(raw, "@"):
		box.spec, box.said = raw, s.comment.String()
	default:
		box.said = s.phrase.String()
	}
	box.name = tidyName(box.said)
	if raw != "" && raw != "<>" {
		s.list = append(s.list, box)
	}
	s.resetAddress()
}

func (s *listScanner) resetAddress() {
	*s = listScanner{list: s.list, quotes: s.quotes}
}

// withoutRoute removes the route of `<@a,@b:c@d>` (RFC 5322, 4.4).
func withoutRoute(spec string) string {
	if strings.HasPrefix(spec, "@") {
		if _, after, found := strings.Cut(spec, ":"); found {
			spec = after
		}
	}
	return strings.TrimSpace(spec)
}

// tidyName makes a name suitable for a display form: one line, single spaces, without characters that
// change the text direction and so disguise what follows.
func tidyName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, decodeWords(s))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > address.MaxName {
		s = string([]rune(s)[:address.MaxName])
	}
	return s
}

// displayForm returns the form for display.
func (m mailbox) displayForm() string {
	if a, err := address.New(m.name, m.spec); err == nil {
		return a.String()
	}
	spec := m.addrSpec()
	switch {
	case spec == "":
		return truncateText(strings.TrimSpace(decodeWords(m.raw)), maxDisplay)
	case m.name == "":
		return spec
	}
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(m.name)
	return `"` + name + `" <` + spec + `>`
}

// maxSpec is generous: 64 bytes before the @, 255 after it.
const maxSpec = 320

// addrSpec returns a usable address: the strict form, or at least one with both sides, such as
// `root@localhost` and `a@[192.0.2.1]`. Empty if invalid.
func (m mailbox) addrSpec() string {
	if a, err := address.New("", m.spec); err == nil {
		return a.AddrSpec()
	}
	spec := cleanText([]byte(m.spec[:min(len(m.spec), maxSpec+1)]))
	at := strings.LastIndexByte(spec, '@')
	if at <= 0 || len(spec) > maxSpec {
		return ""
	}
	local, domain := spec[:at], strings.ToLower(spec[at+1:])
	if strings.ContainsFunc(local, notLocal) || domain == "" || strings.ContainsFunc(domain, notDomain) {
		return ""
	}
	return local + "@" + strings.TrimSuffix(domain, ".")
}

func notLocal(r rune) bool {
	return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`<>()@,;:"\`, r)
}

func notDomain(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-._[]:", r)
}
