package address

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

var (
	errLineBreak = errors.New("has a line break")
	errNUL       = errors.New("has a NUL character")
	errControl   = errors.New("has a control character")
	errUTF8      = errors.New("is not valid UTF-8")
	errBidi      = errors.New("has a character that changes the direction of text")
	errHidden    = errors.New("has an invisible character")
)

// checkText rejects characters that are invalid in every address and header: broken UTF-8, line breaks
// (including Unicode ones, which some software interprets), NUL and the C0 and C1 controls. The tab counts
// as white space.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errUTF8
	}
	for _, r := range s {
		switch {
		case r == '\t':
		case r == '\r', r == '\n', r == 0x85, r == 0x2028, r == 0x2029:
			return errLineBreak
		case r == 0:
			return errNUL
		case unicode.IsControl(r):
			return errControl
		}
	}
	return nil
}

// checkName validates a decoded display name. Direction marks (U+200E, U+200F) are normal in Arabic and
// Hebrew names; the embedding, override and isolate controls only serve to disguise a name.
func checkName(name string) error {
	if err := checkText(name); err != nil {
		return fmt.Errorf("display name %w", err)
	}
	if utf8.RuneCountInString(name) > MaxName {
		return fmt.Errorf("display name is longer than %d characters", MaxName)
	}
	for _, r := range name {
		switch {
		case r == '\t':
			return fmt.Errorf("display name %w", errControl)
		case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return fmt.Errorf("display name %w", errBidi)
		}
	}
	return nil
}

// checkInvisible rejects white space other than the space (which only a quoted local part can contain) and
// invisible characters: two addresses that look the same must be the same. Joiners are allowed, because
// some scripts need them.
func checkInvisible(s string) error {
	for _, r := range s {
		switch {
		case r == ' ', r == 0x200C, r == 0x200D:
		case unicode.IsSpace(r), unicode.In(r, unicode.C, unicode.Z):
			return errHidden
		}
	}
	return nil
}
