package suppression

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxCategory is the longest label of a category, in characters.
const MaxCategory = 100

// CategoryKey is what labels are compared by: letters and digits in lower case,
// everything between them one hyphen. "Product news" and "product_news" are one
// category, product-news. A label without letters and digits has no key.
func CategoryKey(label string) string {
	// NFKC makes one of what only looks different: full-width letters, ligatures.
	// Lower case comes between, for some of its results compose again.
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

// ValidateCategory judges a label. The error is a reason to stand beside a field.
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
