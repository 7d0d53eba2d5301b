package reportfile

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
)

// Reason is why a report was refused.
type Reason string

// The reasons that depend on the file alone.
const (
	TooLarge     Reason = "too_large"     // the file or its contents exceed the limits
	TooMany      Reason = "too_many_rows" // more records or rows than the limits allow
	BadArchive   Reason = "bad_archive"   // not exactly one file, damaged, or nested
	Doctype      Reason = "doctype"       // contains a document type declaration
	Malformed    Reason = "malformed"     // not well-formed, or not a report
	Incomplete   Reason = "incomplete"    // a required element is missing
	InvalidValue Reason = "invalid_value" // an element has an invalid value
)

// RefusalError is the error of a report that was refused.
type RefusalError struct {
	Reason Reason
	Cause  error
}

func (r *RefusalError) Error() string {
	if r.Cause == nil {
		return "report refused: " + string(r.Reason)
	}
	return "report refused: " + string(r.Reason) + ": " + r.Cause.Error()
}

func (r *RefusalError) Unwrap() error { return r.Cause }

// Refuse returns a *RefusalError.
func Refuse(reason Reason, cause error) error { return &RefusalError{Reason: reason, Cause: cause} }

// ReasonOf returns the reason of a refusal, and Malformed for any other error.
func ReasonOf(err error) Reason {
	var r *RefusalError
	if errors.As(err, &r) {
		return r.Reason
	}
	return Malformed
}

// WrapError returns the refusal in an error of a decoder, or a refusal as malformed.
func WrapError(err error) error {
	var r *RefusalError
	if errors.As(err, &r) {
		return r
	}
	return Refuse(Malformed, err)
}

// CleanText returns a text on one line without control characters and other invisible characters.
func CleanText(text []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, string(bytes.ToValidUTF8(text, nil))))
}
