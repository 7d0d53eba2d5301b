package spf

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ExplainError explains why receivers stop with PermError at the record of name. err is the error of Check. The
// result is the second half of a sentence, without a full stop.
func (e *Evaluation) ExplainError(name string, err error) string {
	var broken *SyntaxError
	switch {
	case errors.As(err, &broken):
		where := ""
		if broken.Name != name {
			where = " of " + truncateText(broken.Name)
		}
		return fmt.Sprintf("the term %q%s is invalid, so receivers reject the whole record",
			truncateText(broken.Term), where)
	case errors.Is(err, ErrTooManyLookups):
		return "it needs more than 10 lookups"
	case errors.Is(err, ErrTooManyVoid):
		return fmt.Sprintf("more than 2 of its terms refer to names without records, the last one to %s; remove them",
			truncateText(e.Void))
	case e.Last == name && errors.Is(err, ErrMultipleRecords):
		return fmt.Sprintf("there are %d SPF records, but receivers accept only one", e.Records)
	case errors.Is(err, ErrNoRecord), errors.Is(err, ErrMultipleRecords):
		return fmt.Sprintf("an include or redirect refers to %s, which has %d SPF records and must have exactly one",
			truncateText(e.Last), e.Records)
	case errors.Is(err, ErrTooManyMX):
		return "an mx term refers to more than 10 mail hosts"
	}
	return "receivers cannot evaluate it (" + truncateText(err.Error()) + ")"
}

// truncateText truncates an untrusted text in a sentence.
func truncateText(text string) string {
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
