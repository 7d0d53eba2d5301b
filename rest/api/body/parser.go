package body

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// parser checks JSON; it builds nothing.
type parser struct {
	data   []byte
	pos    int
	values int
}

func (p *parser) fail(pos int, problem string, args ...any) error {
	before := p.data[:min(pos, len(p.data))]
	return &syntaxError{line: 1 + bytes.Count(before, []byte{'\n'}),
		column:  len(before) - bytes.LastIndexByte(before, '\n'),
		problem: fmt.Sprintf(problem, args...)}
}

// peek returns the next byte, or 0 at the end. A 0 byte in the text is invalid anyway.
func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) failUnexpected(want string) error {
	if p.pos >= len(p.data) {
		return p.fail(p.pos, "the body ends where %s is expected", want)
	}
	return p.fail(p.pos, "%s is expected", want)
}

func (p *parser) skipSpace() { p.pos = skipSpace(p.data, p.pos) }

func (p *parser) scanValue(depth int) error {
	if depth > maxDepth {
		return p.fail(p.pos, "nested more than %d levels deep", maxDepth)
	}
	if p.values++; p.values > maxValues {
		return p.fail(p.pos, "more than %d values", maxValues)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.scanObject(depth)
	case c == '[':
		return p.scanArray(depth)
	case c == '"':
		return p.scanString()
	case c == '-' || isDigit(c):
		return p.scanNumber()
	case c == 't':
		return p.scanWord("true")
	case c == 'f':
		return p.scanWord("false")
	case c == 'n':
		return p.scanWord("null")
	default:
		return p.failUnexpected("a value")
	}
}

func (p *parser) scanWord(word string) error {
	if !bytes.HasPrefix(p.data[p.pos:], []byte(word)) {
		return p.failUnexpected("a value")
	}
	p.pos += len(word)
	return nil
}

func (p *parser) scanObject(depth int) error {
	p.pos++
	p.skipSpace()
	if p.peek() == '}' {
		p.pos++
		return nil
	}
	for {
		if p.peek() != '"' {
			return p.failUnexpected("a name in double quotes")
		}
		if err := p.scanString(); err != nil {
			return err
		}
		p.skipSpace()
		if p.peek() != ':' {
			return p.failUnexpected("a colon")
		}
		p.pos++
		p.skipSpace()
		if err := p.scanValue(depth + 1); err != nil {
			return err
		}
		if more, err := p.scanSeparator('}', "a comma or }"); !more {
			return err
		}
	}
}

func (p *parser) scanArray(depth int) error {
	p.pos++
	p.skipSpace()
	if p.peek() == ']' {
		p.pos++
		return nil
	}
	for {
		if err := p.scanValue(depth + 1); err != nil {
			return err
		}
		if more, err := p.scanSeparator(']', "a comma or ]"); !more {
			return err
		}
	}
}

// scanSeparator steps over a comma, or over the end of the object or array.
func (p *parser) scanSeparator(end byte, want string) (more bool, err error) {
	p.skipSpace()
	switch p.peek() {
	case ',':
		p.pos++
		p.skipSpace()
		return true, nil
	case end:
		p.pos++
		return false, nil
	default:
		return false, p.failUnexpected(want)
	}
}

func (p *parser) scanString() error {
	for p.pos++; p.pos < len(p.data); p.pos++ {
		switch c := p.data[p.pos]; {
		case c == '"':
			p.pos++
			return nil
		case c < 0x20:
			return p.fail(p.pos, "a control character inside a string must be escaped")
		case c == '\\':
			if err := p.scanEscape(); err != nil {
				return err
			}
		}
	}
	return p.failUnexpected("the end of a string")
}

// scanEscape leaves the position on its last byte.
func (p *parser) scanEscape() error {
	p.pos++
	switch p.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		return p.scanUnicode()
	default:
		return p.failUnexpected("a valid JSON escape")
	}
}

// scanUnicode rejects half of a surrogate pair. It is not a character, and would be stored as a
// different one (RFC 8259 section 8.2).
func (p *parser) scanUnicode() error {
	start := p.pos
	first, err := p.scanHex4()
	if err != nil || !utf16.IsSurrogate(first) {
		return err
	}
	if p.pos+2 < len(p.data) && p.data[p.pos+1] == '\\' && p.data[p.pos+2] == 'u' {
		p.pos += 2
		second, err := p.scanHex4()
		if err != nil {
			return err
		}
		if utf16.DecodeRune(first, second) != utf8.RuneError {
			return nil
		}
	}
	return p.fail(start, "an unpaired surrogate is not a character")
}

// scanHex4 leaves the position on its last digit.
func (p *parser) scanHex4() (rune, error) {
	for range 4 {
		p.pos++
		if !isHex(p.peek()) {
			return 0, p.failUnexpected("a hexadecimal digit")
		}
	}
	n, err := strconv.ParseUint(string(p.data[p.pos-3:p.pos+1]), 16, 16)
	return rune(n), err
}

// scanNumber scans a number (RFC 8259 section 6).
func (p *parser) scanNumber() error {
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if err := p.scanDigits(); err != nil {
		return err
	}
	if p.peek() == '.' {
		p.pos++
		if err := p.scanDigits(); err != nil {
			return err
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		return p.scanDigits()
	}
	return nil
}

func (p *parser) scanDigits() error {
	if !isDigit(p.peek()) {
		return p.failUnexpected("a digit")
	}
	for isDigit(p.peek()) {
		p.pos++
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
