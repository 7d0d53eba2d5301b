package secret

import (
	"crypto/subtle"
	"encoding"
	"fmt"
	"log/slog"
)

// Redacted is printed in place of a secret.
const Redacted = "[redacted]"

// String is a secret text. The zero value is the empty secret.
//
// The text is stored in a pointer because fmt does not call the methods of unexported struct fields: it
// then prints an address instead of the secret.
type String struct{ text *string }

var (
	_ fmt.Formatter            = String{}
	_ slog.LogValuer           = String{}
	_ encoding.TextMarshaler   = String{}
	_ encoding.TextUnmarshaler = (*String)(nil)
)

// New returns a String for a text.
func New(text string) String { return String{text: &text} }

// Reveal returns the text. Every call is a place where a secret may leak.
func (s String) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether the text is empty.
func (s String) IsZero() bool { return s.Reveal() == "" }

// Equal compares in constant time.
func (s String) Equal(other String) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String returns the redacted form.
func (s String) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// GoString returns the redacted form for %#v.
func (s String) GoString() string { return s.String() }

// Format writes the redacted form for every verb, %x and %d included.
func (s String) Format(f fmt.State, _ rune) {
	// The writer is fmt's own buffer, whose Write cannot fail.
	fmt.Fprint(f, s.String())
}

// LogValue returns the redacted form for slog.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the redacted form for JSON and YAML.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText stores the text as the secret, so that a String can be decoded into.
func (s *String) UnmarshalText(text []byte) error {
	*s = New(string(text))
	return nil
}
