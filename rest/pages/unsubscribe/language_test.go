package unsubscribe

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/web/theme"
)

var places = regexp.MustCompile(`\{[^}]*\}`)

// Each language has all sentences, with the same values as in English.
func TestWordsAreWhole(t *testing.T) {
	t.Parallel()
	english := reflect.ValueOf(*spoken["en"])
	for _, w := range spoken {
		value := reflect.ValueOf(*w)
		for i := range value.NumField() {
			field, text := value.Type().Field(i).Name, value.Field(i).String()
			if strings.TrimSpace(text) != text || text == "" || strings.ContainsAny(text, "<>&\n") ||
				!utf8.ValidString(text) {
				t.Errorf("%s: %s is %q, want a sentence without markup", w.Language, field, text)
			}
			want, got := places.FindAllString(english.Field(i).String(), -1), places.FindAllString(text, -1)
			slices.Sort(want)
			slices.Sort(got)
			if !cmp.Equal(want, got) {
				t.Errorf("%s: %s has the values %q, want %q as in English", w.Language, field, got, want)
			}
		}
	}
}

func askIn(t *testing.T, accept, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", form)
	r.Header.Set("Accept-Language", accept)
	w := httptest.NewRecorder()
	newPages(&fakeLinks{}).ServeHTTP(w, r)
	return w
}

func TestEachLanguageOnItsPages(t *testing.T) {
	t.Parallel()
	for _, name := range theme.Languages() {
		pages := map[string]*httptest.ResponseRecorder{
			"form":   askIn(t, name, http.MethodGet, "/u/category", ""),
			"done":   askIn(t, name, http.MethodPost, "/u/category", "choice=category"),
			"all":    askIn(t, name, http.MethodPost, "/u/all", "choice=all"),
			"gone":   askIn(t, name, http.MethodGet, "/u/gone", ""),
			"forged": askIn(t, name, http.MethodGet, "/u/x", ""),
			"method": askIn(t, name, http.MethodDelete, "/u/all", ""),
			"none":   askIn(t, name, http.MethodPost, "/u/all", ""),
		}
		var all strings.Builder
		for _, what := range []string{"form", "none", "gone", "done", "all", "forged", "method"} {
			w := pages[what]
			whole := w.Body.String()
			if !strings.Contains(whole, `<html lang="`+name+`">`) || w.Header().Get("Content-Language") != name ||
				w.Header().Get("Vary") != "Accept-Language" {
				t.Errorf("the page %s in %s has the header %v and begins\n%.200s", what, name, w.Header(), whole)
			}
			title, _, _ := strings.Cut(whole[strings.Index(whole, "<title>"):], "\n")
			_, body, _ := strings.Cut(whole, "<body>")
			all.WriteString(title + body)
		}
		expect.Golden(t, "language_"+name+".html", all.String())
	}
}

// RFC 8058 does not depend on a language: the POST of a mail program works with any.
func TestOneClickInAnyLanguage(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"de", "ja", "*", "\xff", strings.Repeat("x", 5000)} {
		if w := askIn(t, accept, http.MethodPost, "/u/all", "List-Unsubscribe=One-Click"); w.Code != http.StatusOK {
			t.Errorf("one click with Accept-Language %.20q got %d, want 200", accept, w.Code)
		}
	}
}

func TestHostileSendersAreText(t *testing.T) {
	t.Parallel()
	for _, name := range theme.Languages() {
		body := askIn(t, name, http.MethodGet, "/u/hostile", "").Body.String()
		for _, bad := range []string{"<script", "<b>", "\u202e", "\u2066", "\x00", "\x07", `="">`} {
			if strings.Contains(body, bad) {
				t.Errorf("in %s the page lets %q of the sender's name through:\n%s", name, bad, body)
			}
		}
		// An {email} in the name itself is not replaced by the address.
		if n := strings.Count(body, "bob@münchen.de"); n != 1 {
			t.Errorf("in %s the address appears %d times on the page, want once:\n%s", name, n, body)
		}
	}
}

func TestNamesAreShownShort(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                                "",
		" Example \t\n Shop ":             "Example Shop",
		"\u202eknaB":                      "knaB",
		"\u200f\u061c":                    "",
		"Jörg \U0001f468\u200d\U0001f469": "Jörg \U0001f468\u200d\U0001f469",
		strings.Repeat("é", 200):          strings.Repeat("é", maxShown-1) + "…",
		strings.Repeat("é", maxShown):     strings.Repeat("é", maxShown),
		"a\xffb":                          "ab",
	} {
		if got := cleanName(name); got != want {
			t.Errorf("the name %q is shown as %q, want %q", name, got, want)
		}
	}
}
