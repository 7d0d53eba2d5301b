package language_test

import (
	"testing"

	"github.com/postrider/postrider/modules/templates/language"
)

// Word processors and web editors put these characters into tags.
func TestReportsLookalikesWithPosition(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"Hi {{\u00a0name }}":                               "line 1, column 6: the tag contains U+00A0: use an ordinary space",
		"ä\nsü {{ name | default: \u201cyou\u201d }}":      "line 2, column 23: the tag contains U+201C (\u201c): use an ASCII quotation mark",
		"{% if a %}\n{% elsif b\u2009== 1 %}\n{% endif %}": "line 2, column 11: the tag contains U+2009: use an ordinary space",
		"{{ name\u200b }}":                                 "line 1, column 8: the tag contains U+200B: use an ordinary space",
		"{{ a \u2013 b }}":                                 "line 1, column 6: the tag contains U+2013 (\u2013): use an ASCII hyphen",
	} {
		if _, err := language.Scan(source); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", source, err, want)
		}
	}
	// Outside tags and inside quotes, they are ordinary text.
	for _, source := range []string{"\u00a0\u201cHi\u201d {{ name | default: \"\u201cyou\u201d \u2013\" }}", "{{ a | append: '\u00a0' }}"} {
		if _, err := language.Scan(source); err != nil {
			t.Errorf("%q returned %v, want no error", source, err)
		}
	}
}

// A value with several mistakes always gets the same error.
func TestErrorsOfValuesDoNotDependOnMapOrder(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for range 30 {
		_, err := language.Value(map[string]any{"b": "x\x00", "a": make([]any, language.MaxList+1)})
		if err == nil {
			t.Fatal("a value with two mistakes was accepted")
		}
		got[err.Error()] = true
	}
	if len(got) > 1 {
		t.Errorf("the same value returned the errors %v, want always the same one", got)
	}
}
