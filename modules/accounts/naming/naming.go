// Package naming judges names that people choose: of themselves, of teams, brands and keys. Names stand in
// mails that the installation signs and on pages that others read, so none ends a line, hides what it says, or
// holds a link.
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

// Check returns what is wrong with a name, as a reason to show next to its field; nil: nothing.
func Check(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("is longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return errors.New("must be valid UTF-8")
	case strings.ContainsFunc(name, hidden):
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

// hidden reports characters that end a line or change how the others are shown.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner
}

// holdsLink reports whether programs that show a name would make a link of a part of it. A name that is a
// host as a whole, such as example.com, is allowed: companies are called so, and it leaves no room for other words.
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

// isHost reports whether a word in lower case is a host below a public suffix of the root.
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

// reserved are suffixes of networks that the public does not see (RFC 6761, RFC 6762, RFC 7686).
var reserved = []string{"example", "test", "local", "localhost", "internal", "onion"}
