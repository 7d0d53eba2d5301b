package suppression

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEquivalentLabelsHaveOneKey(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"Product news":    "product-news",
		"  product_NEWS ": "product-news",
		"product--news!":  "product-news",
		"Ｐｒｏｄｕｃｔ ｎｅｗｓ":    "product-news",
		"2026/Q1":         "2026-q1",
		"Größe":           "größe",
		"GRO\u0308ẞE":     "größe",
		"हिन्दी समाचार":   "हिन्दी-समाचार",
		"新闻":              "新闻",
		"":                "",
		"—!—":             "",
		"İstanbul":        "istanbul",
	} {
		if got := CategoryKey(label); got != want {
			t.Errorf("CategoryKey(%q) = %q, want %q", label, got, want)
		}
	}
}

func TestInvalidLabelsAreRejected(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", MaxCategory)
	for label, want := range map[string]string{
		"Product news": "", "1": "", long: "", "News 😀": "",
		"":         "is empty",
		long + "x": "is longer than 100 characters",
		"a\nb":     "has a line break",
		"a\r":      "has a line break",
		"a\u2028b": "has a line break",
		"a\x00":    "has a control character",
		"a\tb":     "has a control character",
		"a\xff":    "is not valid UTF-8",
		"--- !":    "has no letter or digit",
		"😀":        "has no letter or digit",
		"\u0301":   "has no letter or digit",
	} {
		got := ""
		if err := ValidateCategory(label); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("ValidateCategory(%q) = %q, want %q", label, got, want)
		}
	}
}

func FuzzCategoryKey(f *testing.F) {
	for _, seed := range []string{"Product news", "GRO\u0308ẞE", "ﷺ", "\u1e9b\u0323", "a\x80b", "Σς"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, label string) {
		key := CategoryKey(label)
		if again := CategoryKey(key); again != key {
			t.Fatalf("the key %q of %q has the key %q", key, label, again)
		}
		if !utf8.ValidString(key) || strings.HasPrefix(key, "-") || strings.HasSuffix(key, "-") ||
			strings.Contains(key, "--") {
			t.Fatalf("%q has the key %q", label, key)
		}
		if ValidateCategory(label) == nil && key == "" {
			t.Fatalf("the valid label %q has no key", label)
		}
	})
}
