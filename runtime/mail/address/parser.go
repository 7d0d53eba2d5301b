package address

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"
)

// parser parses one mailbox from text without control characters other than the tab.
type parser struct {
	rest   string
	angled bool // the address is in angle brackets
}

func (p *parser) skipSpace() { p.rest = strings.TrimLeft(p.rest, " \t") }

func (p *parser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// parseMailbox reads words until it is clear whether they are a display name (an angle bracket follows) or a
// local part (an @ follows).
func (p *parser) parseMailbox() (Address, error) {
	if p.peek() == '<' {
		return p.parseAngle("")
	}
	var phrase phrase
	for {
		w, err := p.parseWord()
		if err != nil {
			return Address{}, err
		}
		if p.peek() == '@' {
			if len(phrase.words) > 0 {
				return Address{}, nameWithAt(p.rest)
			}
			return p.parseBare(w)
		}
		phrase.words = append(phrase.words, w)
		p.skipSpace()
		switch c := p.peek(); {
		case c == '<':
			name, err := phrase.displayName()
			if err != nil {
				return Address{}, err
			}
			return p.parseAngle(name)
		case c == '@':
			return Address{}, errors.New("has a space before the @")
		case c == 0:
			return Address{}, errors.New("has no @")
		}
	}
}

// nameWithAt distinguishes `Bob bob@example.com`, where brackets are missing, from `bob@home
// <bob@example.com>`, where the name needs quotes.
func nameWithAt(rest string) error {
	if strings.Contains(rest, "<") {
		return errors.New("has an @ in the display name: put the name in double quotes")
	}
	return errors.New("has a name but no angle brackets around the address")
}

// parseBare parses the rest of `a@b`, whose local part is w.
func (p *parser) parseBare(w word) (Address, error) {
	local, err := w.localPart()
	if err != nil {
		return Address{}, err
	}
	p.rest = p.rest[1:]
	domain, err := p.parseDomain()
	if err != nil {
		return Address{}, err
	}
	before := p.rest
	p.skipSpace()
	if p.peek() == '<' && before != "" {
		return Address{}, errors.New("has an @ in the display name: put the name in double quotes")
	}
	return finishAddress("", local, domain)
}

// parseAngle parses `<a@b>`.
func (p *parser) parseAngle(name string) (Address, error) {
	p.angled = true
	p.rest = p.rest[1:]
	p.skipSpace()
	switch p.peek() {
	case '>':
		return Address{}, errors.New("has nothing between the angle brackets")
	case '@':
		// RFC 5321 section 4.1.2 A-d-l: obsolete, and a way to bypass relay rules.
		if strings.Contains(p.rest, ":") {
			return Address{}, errors.New("has a source route, which is not allowed")
		}
	}
	w, err := p.parseWord()
	if err != nil {
		return Address{}, err
	}
	if p.peek() != '@' {
		if strings.Contains(p.rest, "@") {
			return Address{}, errors.New("has a space inside the angle brackets")
		}
		return Address{}, errors.New("has no @")
	}
	local, err := w.localPart()
	if err != nil {
		return Address{}, err
	}
	p.rest = p.rest[1:]
	domain, err := p.parseDomain()
	if err != nil {
		return Address{}, err
	}
	p.skipSpace()
	if p.peek() != '>' {
		if p.rest == "" {
			return Address{}, errors.New("has no closing angle bracket")
		}
		return Address{}, p.expectEnd()
	}
	p.rest = p.rest[1:]
	return finishAddress(name, local, domain)
}

// finishAddress checks what depends on the whole address.
func finishAddress(name, local, domain string) (Address, error) {
	a := Address{Name: name, Local: local, Domain: domain}
	if n := len(quoteLocal(local)); n > MaxLocal {
		return Address{}, fmt.Errorf("local part is longer than %d bytes", MaxLocal)
	}
	if len(a.AddrSpec()) > MaxAddr {
		return Address{}, fmt.Errorf("is longer than %d bytes", MaxAddr)
	}
	return a, nil
}

// expectEnd rejects anything after a complete mailbox.
func (p *parser) expectEnd() error {
	switch c := p.peek(); c {
	case 0:
		return nil
	case ',', ';':
		return errors.New("holds more than one address")
	case '(':
		return errComment
	case '@':
		return errors.New("has more than one @")
	case '>':
		return errors.New("has a closing angle bracket without an opening one")
	default:
		return errors.New("has text after the address")
	}
}

var errComment = errors.New("has a comment in parentheses, which is not allowed")

// word is an atom with dots, or the content of a quoted string.
type word struct {
	text   string
	quoted bool
}

func (p *parser) parseWord() (word, error) {
	if p.peek() == '"' {
		return p.parseQuoted()
	}
	end := 0
	for end < len(p.rest) && (p.rest[end] == '.' || isAtom(p.rest[end])) {
		end++
	}
	if end > 0 {
		w := word{text: p.rest[:end]}
		p.rest = p.rest[end:]
		return w, nil
	}
	switch c := p.peek(); c {
	case 0:
		return word{}, errors.New("has no @")
	case '@':
		return word{}, errors.New("has nothing before the @")
	case '(', ')':
		return word{}, errComment
	case ',':
		return word{},
			errors.New("has a comma outside quotes: put the name in double quotes, and give one address only")
	case ':', ';':
		return word{}, errors.New("is a group or has a colon or semicolon outside quotes")
	default:
		return word{}, fmt.Errorf("has %q outside quotes", c)
	}
}

// parseQuoted parses a quoted string. Its content is any text; restrictions of a local part are checked
// elsewhere.
func (p *parser) parseQuoted() (word, error) {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; c {
		case '"':
			p.rest = p.rest[i+1:]
			return word{text: b.String(), quoted: true}, nil
		case '\\':
			i++
			// RFC 5321 quoted-pairSMTP: a backslash and a printable character.
			if i == len(p.rest) || p.rest[i] < ' ' || p.rest[i] > '~' {
				return word{}, errors.New("has a backslash without a character to quote")
			}
			b.WriteByte(p.rest[i])
		case '\t':
			return word{}, errors.New("has a control character")
		default:
			b.WriteByte(c)
		}
	}
	return word{}, errors.New("has an unclosed double quote")
}

// localPart converts a word to a local part.
func (w word) localPart() (string, error) {
	text := norm.NFC.String(w.text)
	if text == "" {
		return "", errors.New("has nothing before the @")
	}
	if err := checkInvisible(text); err != nil {
		return "", fmt.Errorf("local part %w", err)
	}
	if w.quoted {
		return text, nil
	}
	return text, checkDotString(text)
}

// checkDotString validates a local part by Dot-string of RFC 5321 section 4.1.2.
func checkDotString(s string) error {
	if s == "" {
		return errors.New("has nothing before the @")
	}
	for i := range len(s) {
		if s[i] != '.' && !isAtom(s[i]) {
			return fmt.Errorf("local part has %q outside quotes", s[i])
		}
	}
	switch {
	case s[0] == '.':
		return errors.New("local part starts with a dot")
	case s[len(s)-1] == '.':
		return errors.New("local part ends with a dot")
	case strings.Contains(s, ".."):
		return errors.New("local part has two dots in a row")
	}
	return nil
}

// parseDomain parses the rest as a domain and converts it to A-labels.
func (p *parser) parseDomain() (string, error) {
	if p.peek() == '[' {
		return "", errors.New("has an IP address instead of a domain, which is not allowed")
	}
	end := strings.IndexAny(p.rest, " \t<>(),;:@\"[]\\")
	if end < 0 {
		end = len(p.rest)
	}
	domain := p.rest[:end]
	p.rest = p.rest[end:]
	if p.peek() == '@' {
		return "", errors.New("has more than one @")
	}
	if domain == "" {
		return "", errors.New("has nothing after the @")
	}
	return ParseDomain(domain)
}

// phrase is the list of words before the angle bracket.
type phrase struct{ words []word }

// displayName joins the words with one space each, decodes encoded words, and validates the result like an
// unencoded display name.
func (p phrase) displayName() (string, error) {
	var b strings.Builder
	encodedBefore := false
	for i, w := range p.words {
		text, encoded := w.text, false
		if !w.quoted && strings.HasPrefix(text, "=?") {
			if decoded, err := words.Decode(text); err == nil {
				text, encoded = decoded, true
			}
		}
		// RFC 2047 section 6.2: white space between encoded words is not shown.
		if i > 0 && !(encoded && encodedBefore) {
			b.WriteByte(' ')
		}
		b.WriteString(text)
		encodedBefore = encoded
	}
	// Checked before trimming, as in New: an encoded word may end with a line break.
	if err := checkName(b.String()); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

func charsetReader(charset string, input io.Reader) (io.Reader, error) {
	enc, err := htmlindex.Get(charset)
	if err != nil {
		return nil, fmt.Errorf("charset %q: %w", charset, err)
	}
	return enc.NewDecoder().Reader(input), nil
}
