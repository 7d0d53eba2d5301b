package address

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxHeaderValue is the maximum length of a header value in characters: the line length of RFC 5322 section
// 2.1.1, before folding.
const MaxHeaderValue = 998

// MaxThreadValue is the maximum length of References and In-Reply-To, which grow with a thread and are folded.
const MaxThreadValue = 16 << 10

// maxHeaderName leaves room for a value on the first line of 78 characters.
const maxHeaderName = 76

// reserved lists the fields that clients may not set, with the reason. A name that ends in * matches every
// name with that prefix.
var reserved = map[string]string{
	"from": useField, "to": useField, "cc": useField, "bcc": useField, "reply-to": useField, "subject": useField,
	"sender": ours, "date": ours, "message-id": ours, "mime-version": ours, "content-*": ours,
	"return-path": ours, "received": ours, "delivered-to": ours, "resent-*": ours,
	"dkim-signature": ours, "arc-*": ours, "authentication-results": ours,
	"errors-to": ours, "bounces-to": ours, "return-receipt-*": ours, "disposition-notification-*": ours,
	"transfer-encoding": ours, "received-*": ours, "x-received*": ours, "via": ours,
	"envelope-*": ours, "x-envelope-*": ours, "apparently-*": ours, "x-apparently-*": ours,
	"original-*": ours, "x-original-to": ours, "x-original-from": ours, "x-original-recipient": ours,
	"mail-from": ours, "x-mail-from": ours, "rcpt-to": ours, "x-rcpt-to": ours, "x-delivered-to": ours, "x-return-path": ours,
	"authentication-results-*": ours, "read-receipt-*": ours, "x-return-receipt-*": ours, "x-confirm-reading-to": ours,
	"x-failed-recipients": ours, "delivery-date": ours, "domainkey-*": ours, "x-google-dkim-signature": ours, "x-authentication-results": ours,
	"x-dkim-signature": ours, "x-domainkey-*": ours, "x-gm-original-to": ours,
	"bimi-location": ours, "bimi-indicator": ours, // results of the receiver; BIMI-Selector is the sender's
	"x-postrider-*": ours,
}

const (
	useField = "is set by a field of the request, not by a header"
	ours     = "is a header that callers may not set"
)

// RefusedHeaders returns the names of header fields that clients may not set, sorted. A name that ends in *
// matches all names with that prefix.
func RefusedHeaders() []string { return slices.Sorted(maps.Keys(reserved)) }

// ValidateHeader validates a header field that a client wants to add.
func ValidateHeader(name, value string) error {
	if err := CheckFieldName(name); err != nil {
		return err
	}
	if reason, ok := reservedReason(name); ok {
		return errors.New(reason)
	}
	if err := CheckFieldValue(name, value); err != nil {
		return err
	}
	if !structured[strings.ToLower(name)] {
		return nil
	}
	if !isASCII(value) {
		return errors.New("value must be ASCII in this header")
	}
	for word := range strings.FieldsSeq(value) {
		if len(word) > maxWord {
			return fmt.Errorf("value has %d characters without a space, which fits on no line", len(word))
		}
	}
	return nil
}

// maxWord fits on a folded line: RFC 5322 section 2.1.1 less the fold's space.
const maxWord = 997

// structured lists fields that cannot contain encoded words, so they must be ASCII and fold at spaces only.
var structured = map[string]bool{
	"in-reply-to": true, "references": true, "list-unsubscribe": true, "list-unsubscribe-post": true,
}

func reservedReason(name string) (string, bool) {
	lower := strings.ToLower(name)
	if reason, ok := reserved[lower]; ok {
		return reason, true
	}
	for pattern, reason := range reserved {
		if prefix, wild := strings.CutSuffix(pattern, "*"); wild && strings.HasPrefix(lower, prefix) {
			return reason, true
		}
	}
	return "", false
}

// CheckFieldName validates a name by field-name of RFC 5322 section 3.6.8: printable ASCII without the
// colon.
func CheckFieldName(name string) error {
	if name == "" {
		return errors.New("header name is empty")
	}
	if len(name) > maxHeaderName {
		return fmt.Errorf("header name is longer than %d characters", maxHeaderName)
	}
	for _, c := range name {
		if c <= ' ' || c > '~' || c == ':' {
			return fmt.Errorf("header name has %q, which is not allowed", c)
		}
	}
	return nil
}

// MaxFieldValue returns the maximum length of the value of a header field in characters.
func MaxFieldValue(name string) int {
	if strings.EqualFold(name, "References") || strings.EqualFold(name, "In-Reply-To") {
		return MaxThreadValue
	}
	return MaxHeaderValue
}

// CheckFieldValue validates the unfolded value of a header field, or a subject: valid UTF-8, no line
// breaks, no control characters except the tab, at most MaxHeaderValue characters, or MaxThreadValue in the fields of
// a thread.
func CheckFieldValue(name, value string) error {
	limit := MaxFieldValue(name)
	if len(value) > limit && utf8.RuneCountInString(value) > limit {
		return fmt.Errorf("value is longer than %d characters", limit)
	}
	if err := checkText(value); err != nil {
		return fmt.Errorf("value %w", err)
	}
	return nil
}

// CleanFieldValue returns the text of a rendered template as one line that CheckFieldValue accepts: runs of
// white space and control characters become one space, and a text over MaxHeaderValue characters is cut, if
// possible after a word. No-break spaces stay. A text without a visible character is empty.
func CleanFieldValue(text string) string {
	if !strings.ContainsFunc(text, isVisible) {
		return ""
	}
	words := strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) && r != noBreakSpace && r != narrowNoBreakSpace
	})
	line := strings.Join(words, " ")
	if len(line) <= MaxHeaderValue {
		return line
	}
	runes := []rune(line)
	if len(runes) <= MaxHeaderValue {
		return line
	}
	line = string(runes[:MaxHeaderValue])
	if end := strings.LastIndexByte(line, ' '); end > len(line)/2 && runes[MaxHeaderValue] != ' ' {
		line = line[:end]
	}
	return strings.TrimSpace(line)
}

// isVisible reports whether a character shows anything: it is not a space, control or format character, or one of the
// letters and symbols that are blank.
func isVisible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Variation_Selector) &&
		!strings.ContainsRune(blankCharacters, r)
}

// blankCharacters are the combining grapheme joiner, the Hangul fillers and the empty Braille pattern.
const blankCharacters = "\u034F\u115F\u1160\u2800\u3164\uFFA0"

const (
	noBreakSpace       = '\u00A0'
	narrowNoBreakSpace = '\u202F'
)

// ValidateSubject validates a subject. It has a field of its own, so the reasons need no subject.
func ValidateSubject(subject string) error {
	if len(subject) > MaxHeaderValue && utf8.RuneCountInString(subject) > MaxHeaderValue {
		return fmt.Errorf("is longer than %d characters", MaxHeaderValue)
	}
	return checkText(subject)
}

// ValidateMessageID validates a message id without its angle brackets: id-left @ id-right of RFC 5322
// section 3.6.4, without the obsolete forms.
func ValidateMessageID(id string) error {
	left, right, ok := strings.Cut(id, "@")
	switch {
	case !ok:
		return errors.New("message id has no @")
	case len(id) > 250:
		return errors.New("message id is longer than 250 bytes")
	case !isASCII(id):
		return errors.New("message id is not ASCII")
	case checkDotString(left) != nil:
		return errors.New("message id is not valid before the @")
	}
	if literal, found := strings.CutPrefix(right, "["); found {
		inner, closed := strings.CutSuffix(literal, "]")
		if !closed || strings.ContainsAny(inner, "[]\\ ") || checkText(inner) != nil || strings.Contains(inner, "\t") {
			return errors.New("message id is not valid after the @")
		}
		return nil
	}
	if checkDotString(right) != nil {
		return errors.New("message id is not valid after the @")
	}
	return nil
}
