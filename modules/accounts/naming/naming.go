// Package naming validates the names that users choose for themselves, teams, brands and keys. Names appear in
// emails that the installation signs and on pages that other users read, so a name cannot contain a line break,
// invisible characters or a link.
package naming

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

const maxName = 200 // bytes

// Check validates a name. The error is a reason to show next to its field.
func Check(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("is longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return errors.New("must be valid UTF-8")
	case strings.ContainsFunc(name, isHidden):
		return errors.New("must not contain control characters")
	case strings.Contains(name, "{{"):
		return errors.New("must not contain {{")
	case holdsLink(name):
		return errors.New("must not contain a web address")
	}
	return nil
}

const (
	nonJoiner = '\u200c' // part of Persian words
	joiner    = '\u200d' // part of emoji
)

// isHidden reports whether a character ends a line or changes how other characters are displayed.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Cf, r) &&
		r != nonJoiner && r != joiner
}

// holdsLink reports whether a mail client would turn part of a name into a link. A name that consists only of
// a host, such as example.com, is allowed: companies use such names, and they leave no room for a message.
func holdsLink(name string) bool {
	lower := strings.ToLower(name)
	if strings.Contains(lower, "://") || strings.Contains(lower, "www.") || strings.Contains(lower, "mailto:") {
		return true
	}
	for _, word := range strings.FieldsFunc(lower, func(r rune) bool {
		return r != '.' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if word = strings.Trim(word, ".-"); isHost(word) && word != lower {
			return true
		}
	}
	return false
}

// isHost reports whether a word in lower case is a host name below a public suffix of the DNS root.
func isHost(word string) bool {
	_, last, dotted := strings.Cut(word, ".")
	if !dotted {
		return false
	}
	last = last[strings.LastIndexByte(last, '.')+1:]
	ascii, err := idna.ToASCII(last)
	if err != nil {
		return false
	}
	suffix, listed := publicsuffix.PublicSuffix(ascii)
	return listed && suffix == ascii || slices.Contains(reserved, ascii)
}

// reserved lists suffixes of private networks (RFC 6761, RFC 6762, RFC 7686).
var reserved = []string{"example", "test", "local", "localhost", "internal", "onion"}
