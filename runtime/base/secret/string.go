package secret

import (
	"crypto/subtle"
	"encoding"
	"fmt"
	"log/slog"
)

// Redacted is what a secret prints as.
const Redacted = "[redacted]"

// String is a secret text. The zero value is the empty secret.
//
// The text lies behind a pointer because fmt does not call the methods of
// unexported struct fields: it then prints an address instead of the secret.
type String struct{ text *string }

var (
	_ fmt.Formatter            = String{}
	_ slog.LogValuer           = String{}
	_ encoding.TextMarshaler   = String{}
	_ encoding.TextUnmarshaler = (*String)(nil)
)

// New takes a text into custody.
func New(text string) String { return String{text: &text} }

// Reveal gives the text. A call of it is where a secret may leave.
func (s String) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero tells whether there is no text.
func (s String) IsZero() bool { return s.Reveal() == "" }

// Equal compares without telling by its duration where two secrets differ.
func (s String) Equal(other String) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String is what every printer gets.
func (s String) String() string {
	if s.IsZero() {
		return ""
	}
	return Redacted
}

// GoString is String: %#v gives the secret away no more than %v.
func (s String) GoString() string { return s.String() }

// Format answers every verb, %x and %d included.
func (s String) Format(f fmt.State, _ rune) {
	// The state's writer is fmt's own buffer, whose Write cannot fail.
	fmt.Fprint(f, s.String())
}

// LogValue is what slog writes.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what JSON and YAML write.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the secret itself, so that a String may be decoded into.
func (s *String) UnmarshalText(text []byte) error {
	*s = New(string(text))
	return nil
}
