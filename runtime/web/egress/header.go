package egress

import (
	"regexp"
	"strings"
)

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

// IsHeaderName reports whether a text is a valid name of a header field of at most 100 characters.
func IsHeaderName(text string) bool { return headerName.MatchString(text) }

// IsHeaderValue reports whether a text is a valid header value: visible ASCII characters and spaces.
func IsHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
