package suppression

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxCategory is the maximum length of a category label, in characters.
const MaxCategory = 100

// CategoryKey returns the key by which labels are compared: letters and digits in lower case, with one hyphen
// for everything between them. "Product news" and "product_news" are the same category, product-news. A label
// without letters and digits has no key.
func CategoryKey(label string) string {
	// NFKC unifies characters that only look different, such as full-width letters and ligatures. Lower-casing
	// comes in between, because some of its results must be composed again.
	folded := norm.NFKC.String(strings.ToLower(norm.NFKC.String(label)))
	var key strings.Builder
	between := false
	for _, r := range folded {
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) {
			between = true
			continue
		}
		if between && key.Len() > 0 {
			key.WriteByte('-')
		}
		between = false
		key.WriteRune(r)
	}
	return key.String()
}

// ValidateCategory validates a label. The error is a message for the field.
func ValidateCategory(label string) error {
	switch {
	case label == "":
		return errors.New("is empty")
	case !utf8.ValidString(label):
		return errors.New("is not valid UTF-8")
	case utf8.RuneCountInString(label) > MaxCategory:
		return fmt.Errorf("is longer than %d characters", MaxCategory)
	}
	for _, r := range label {
		switch {
		case r == '\r', r == '\n', r == 0x85, r == 0x2028, r == 0x2029:
			return errors.New("has a line break")
		case unicode.IsControl(r):
			return errors.New("has a control character")
		}
	}
	if !strings.ContainsFunc(CategoryKey(label), func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }) {
		return errors.New("has no letter or digit")
	}
	return nil
}
