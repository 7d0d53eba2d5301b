package language

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
)

func mustLocale(t testing.TB, tag, zone string) Locale {
	t.Helper()
	wrong := fault.Fields{}
	l := NewLocale(tag, "locale", zone, "zone", wrong)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return l
}

func renderFor(t testing.TB, e *Engine, l Locale, source string, values map[string]any) (string, error) {
	t.Helper()
	p, err := e.Compile("html", source)
	if err != nil {
		return "", err
	}
	return p.Render(NewBudget(t.Context(), l), values)
}

// The expected results are those of CLDR 46; no-break spaces are written as _.
func TestFormatsForLocale(t *testing.T) {
	t.Parallel()
	values := map[string]any{"n": 1234567.891, "whole": 1234, "owed": -12.5, "share": 0.256, "tiny": -0.001, "text": " 12.50 ",
		"day": "2026-01-15", "at": "2026-01-15T22:05:00Z", "wall": "2026-01-15 22:05", "seconds": 1768514700, "none": nil,
		"one": 1, "two": 2, "five": 5, "half": 1.5, "zero": 0}
	for _, c := range []struct{ locale, zone, source, want string }{
		{"", "", `{{ n | money: "EUR" }} {{ owed | money: "usd" }} {{ n | money: "JPY" }} {{ whole | money: "CHF" }}`,
			"€1,234,567.89 -$12.50 ¥1,234,568 CHF_1,234.00"},
		{"de", "", `{{ n | money: "EUR" }} {{ owed | money: "USD" }} {{ text | money: "KWD" }}`,
			"1.234.567,89_€ -12,50_$ 12,500_KWD"},
		{"de-CH", "", `{{ n | money: "CHF" }}`, "CHF_1’234’567.89"},
		{"fr", "", `{{ n | money: "EUR" }}`, "1_234_567,89_€"},
		{"nl", "", `{{ owed | money: "EUR" }}`, "€_-12,50"},
		{"pt-BR", "", `{{ n | money: "BRL" }}`, "R$_1.234.567,89"},
		{"pt-PT", "", `{{ owed | money: "EUR" }}`, "-12,50_€"},
		{"ja", "", `{{ n | money: "JPY" }}`, "￥1,234,568"},
		{"es-MX", "", `{{ n | money: "MXN" }}`, "$1,234,567.89"},
		{"", "", `{{ tiny | money: "EUR" }}|{{ none | money: "EUR" }}|{{ "" | number }}`, "€0.00||"},
		{"de", "", `{{ n | number }} {{ n | number: 1 }} {{ text | number }} {{ share | percent }} {{ share | percent: 1 }}`,
			"1.234.567,891 1.234.567,9 12,5 26_% 25,6_%"},
		{"hi", "", `{{ n | number: 0 }}`, "12,34,568"},
		{"", "", `{{ day | date: "short" }}; {{ day | date: "medium" }}; {{ day | date: "long" }}; {{ day | date: "full" }}`,
			"1/15/26; Jan 15, 2026; January 15, 2026; Thursday, January 15, 2026"},
		{"en-GB", "Europe/London", `{{ day | date: "long" }}, {{ at | datetime }}`, "15 January 2026, 15 Jan 2026, 22:05"},
		{"de", "Europe/Berlin", `{{ at | datetime: "long" }}, {{ at | datetime: "full" }}, {{ at | datetime: "short" }}`,
			"15. Januar 2026 um 23:05, Donnerstag, 15. Januar 2026 um 23:05_CET, 15.01.26, 23:05"},
		{"de-AT", "", `{{ day | date: "long" }}`, "15. Jänner 2026"},
		{"fr", "America/Sao_Paulo", `{{ at | datetime: "full" }}`, "jeudi 15 janvier 2026 à 19:05_UTC-03:00"},
		{"es", "", `{{ day | date: "full" }}`, "jueves, 15 de enero de 2026"},
		{"pt-BR", "", `{{ day | date: "long" }}`, "15 de janeiro de 2026"},
		{"it", "UTC", `{{ at | datetime: "long" }}`, "15 gennaio 2026 alle ore 22:05"},
		{"nl", "", `{{ day | date: "full" }}`, "donderdag 15 januari 2026"},
		{"pl", "", `{{ day | date: "full" }}`, "czwartek, 15 stycznia 2026"},
		{"ja", "Asia/Tokyo", `{{ at | datetime: "full" }}`, "2026年1月16日金曜日 7:05_JST"},
		{"en-US", "America/New_York", `{{ at | datetime: "full" }}`, "Thursday, January 15, 2026 at 5:05_PM_EST"},
		// Dates and times without a zone are the recipient's own. Other languages get ISO dates.
		{"en-US", "America/New_York", `{{ day | date: "short" }} {{ wall | datetime: "short" }} {{ seconds | datetime: "short" }}`,
			"1/15/26 1/15/26, 10:05_PM 1/15/26, 5:05_PM"},
		{"sv", "UTC", `{{ at | datetime: "full" }}|{{ day | date: "long" }}`, "2026-01-15 22:05_UTC|2026-01-15"},
		// The formats of strftime.
		{"de", "America/New_York", `{{ at | date: "%d %B %Y %H:%M" }}|{{ day | date: "%Y-%m-%d" }}|{{ none | date: "%Y" }}`,
			"15 January 2026 17:05|2026-01-15|"},
		{"", "", `{{ at | date: "%H:%M" }}`, "22:05"},
		{"", "", `{{ one | pluralize: "item", "items" }} {{ zero | pluralize: "item", "items" }} {{ half | pluralize: "item", "items", few: "x" }}`,
			"item items items"},
		{"fr", "", `{{ zero | pluralize: "article", "articles" }} {{ half | pluralize: "article", "articles" }}`, "article article"},
		{"pl", "", `{% for n in list %}{{ n | pluralize: "plik", "pliku", few: "pliki", many: "plików" }} {% endfor %}`,
			"plik pliki plików plików pliki pliku "},
		{"ja", "", `{{ one | pluralize: "a", "b" }}`, "b"},
		{"de", "", `{{ n | money: "EUR" | append: "!" | upcase }}`, "1.234.567,89_€!"},
	} {
		given := maps.Clone(values)
		given["list"] = []any{1, 2, 5, 12, 1000022, 1.5}
		got, err := renderFor(t, Text, mustLocale(t, c.locale, c.zone), c.source, given)
		got = strings.ReplaceAll(got, noBreakSpace, "_")
		if err != nil || got != c.want {
			t.Errorf("%s %s %s: %q (%v), want %q", c.locale, c.zone, c.source, got, err, c.want)
		}
	}
}

func TestRejectsValuesThatCannotBeFormatted(t *testing.T) {
	t.Parallel()
	l := mustLocale(t, "de", "Europe/Berlin")
	values := map[string]any{"huge": 1e300, "long": strings.Repeat("9", 5000), "list": []any{1}, "word": "12 EUR", "hex": "0x1p10",
		"code": "XYZ", "year": "99999-01-01", "late": 1e14, "n": 1, "big": strings.Repeat("a", maxMarkdown+1)}
	for source, want := range map[string]string{
		"a\n{{ huge | money: 'EUR' }}": "requires a number between",
		"a\n{{ long | number }}":       "requires a number",
		"a\n{{ list | number }}":       "requires a number",
		"a\n{{ word | money: 'EUR' }}": "requires a number",
		"a\n{{ hex | percent }}":       "requires a number",

		"a\n{{ n | money: code }}":                    "requires an ISO 4217 currency",
		"a\n{{ n | number: 99 }}":                     "requires a number of decimals",
		"a\n{{ year | date: 'long' }}":                "requires a date",
		"a\n{{ late | datetime }}":                    "requires a date",
		"a\n{{ n | datetime: code }}":                 "requires one of short",
		"a\n{{ list | markdown }}":                    "requires a text",
		"a\n{{ big | markdown }}":                     "requires a text of at most 32 KB",
		"a\n{{ n | money: 'XYZ' }}":                   "line 2, column 1: money requires an ISO 4217 currency",
		"a\n{{ n | money }}":                          "line 2, column 1: money requires an ISO 4217 currency",
		"a\n{{ n | datetime: 'longest' }}":            "line 2, column 1: datetime requires one of short, medium, long, full",
		"a\n{{ n | pluralize: 'a', 'b', lots: 'c' }}": "pluralize has no further plural category lots; the categories are few, many, two, zero",
		"a\n{{ n | pluralize: 'a', 'b', 'c' }}":       "requires two words",
		"a\n{{ n | pluralize }}":                      "requires two words",
		"a\n{{ n | raw | upcase }}":                   "raw must be the last filter of an output",
		"a\n{% if n | markdown %}{% endif %}":         "markdown must be the last filter of an output",
	} {
		_, err := renderFor(t, HTML, l, source, values)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 2") {
			t.Errorf("%.60s: %.200v, want line 2 and %q", source, err, want)
		}
	}
}

// A count that is not a number has the word for many, as it had before there were plural rules.
func TestPluralizesAnyValue(t *testing.T) {
	t.Parallel()
	for _, count := range []any{nil, "many", true, []any{1}, 1e300, ""} {
		got, err := renderFor(t, Text, Locale{}, `{{ n | pluralize: "item", "items" }}`, map[string]any{"n": count})
		if err != nil || got != "items" {
			t.Errorf("%v: %q (%v), want items", count, got, err)
		}
	}
}

func TestDocumentsFilters(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Filters() {
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), "\\| "+name) {
			t.Errorf("docs/templates.md does not mention the filter %s", name)
		}
	}
}

func TestRejectsUnknownLocales(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tag, zone string
		fields    []string
	}{
		{"pt-BR", "Europe/Berlin", nil},
		{"", "", nil},
		{"zh-Hant-TW", "UTC", nil},
		{"german", "Berlin", []string{"template.locale", "template.time_zone"}},
		{"xx-garbage-", "Local", []string{"template.locale", "template.time_zone"}},
		{strings.Repeat("en-", 30), "../../etc/passwd", []string{"template.locale", "template.time_zone"}},
		{"und", "", []string{"template.locale"}},
	} {
		wrong := fault.Fields{}
		NewLocale(c.tag, "template.locale", c.zone, "template.time_zone", wrong)
		if got := slices.Sorted(maps.Keys(wrong)); !slices.Equal(got, c.fields) {
			t.Errorf("%s %s: errors in %v (%v), want %v", c.tag, c.zone, got, wrong, c.fields)
		}
	}
}

func TestRendersMarkdown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][2]string{
		"Hello *Ada*,\n\n- one\n- [two](https://example.com/?a=1&b=2)": {"<p>Hello <em>Ada</em>,</p>\n<ul>\n<li>one</li>\n" +
			`<li><a href="https://example.com/?a=1&amp;b=2">two</a></li>` + "\n</ul>", "Hello Ada,\n\n- one\n- two (https://example.com/?a=1&b=2)"},
		"<script>alert(1)</script> <b>x</b>": {"<p>&lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;x&lt;/b&gt;</p>",
			"<script>alert(1)</script> <b>x</b>"},
		"[a](javascript:alert(1)) [b](JaVaScRiPt:x) [c](data:text/html,x) <javascript:x>": {`<p><a href="">a</a> <a href="">b</a> <a href="">c</a> ` +
			`<a href="">javascript:x</a></p>`, "a b c javascript:x"},
		"": {"", ""},
		"[x]({{unsubscribe_url}}) {{unsubscribe_url}}": {"<p><a href=\"%7B%7Bunsubscribe\u2060_url%7D%7D\">x</a> {{unsubscribe\u2060_url}}</p>",
			"x {{unsubscribe\u2060_url}}"},
	} {
		for i, e := range []*Engine{HTML, Text} {
			if got, err := renderFor(t, e, Locale{}, "{{ text | markdown }}", map[string]any{"text": source}); err != nil || got != want[i] {
				t.Errorf("%q renders %q (%v), want %q", source, got, err, want[i])
			}
		}
	}
}

// Markup in an attribute could close it, and text in a script would run.
func TestAllowsMarkdownInTextOnly(t *testing.T) {
	t.Parallel()
	for source, allowed := range map[string]bool{
		"<td>{{ x | markdown }}</td>":                                true,
		"{% if y %}<p>{% endif %}{{x|markdown}}":                     true,
		"<p title='a'>b</p>{{- x | markdown -}}":                     true,
		`<a href="{{ y }}">{{ x | markdown }}</a>`:                   true,
		`<a href="{{ x | markdown }}">a</a>`:                         false,
		"<a href='{% if y %}{{ x | strip | markdown }}{% endif %}'>": false,
		"<p {{ x | markdown }}>":                                     false,
		"<style>{{ x | markdown }}</style>":                          false,
		"<title>{{ x | markdown }}</title>":                          false,
		"<!-- {{ x | markdown }} -->":                                false,
	} {
		if _, err := HTML.Compile("html", source); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %t", source, err, allowed)
		}
	}
}

func TestRawInsertsTrustedHTML(t *testing.T) {
	t.Parallel()
	values := map[string]any{"x": "<b>{{unsubscribe_url}}</b>"}
	for e, want := range map[*Engine]string{HTML: "<b>{{unsubscribe\u2060_url}}</b> &lt;", Text: "<b>{{unsubscribe\u2060_url}}</b> <"} {
		if got, err := renderFor(t, e, Locale{}, "{{ x | raw }} {{ '<' }}", values); err != nil || got != want {
			t.Errorf("got %q (%v), want %q", got, err, want)
		}
	}
}

// hostileMarkdown returns the most expensive texts that are accepted, by name. The parser cannot be interrupted.
func hostileMarkdown() map[string]string {
	limit := func(pattern string) int {
		per := 0
		for _, delimiter := range delimiters {
			per += strings.Count(pattern, string(delimiter))
		}
		return min(maxMarkdown/len(pattern), maxDelimiters/max(per, 1))
	}
	fill := func(pattern string) string { return strings.Repeat(pattern, limit(pattern)) }
	half := func(first, then string) string {
		return strings.Repeat(first, limit(first)/2) + "\n" + strings.Repeat(then, limit(then)/2-1)
	}
	return map[string]string{
		"quotes": fill("> "), "lists": fill("- "), "numbers": fill("1. "), "brackets": fill("["), "images": fill("!["), "links": fill("[a]("),
		"emphasis": fill("*a **a "), "delimiters": fill("a_ *b "), "codes": fill("`a``b"), "entities": fill("&amp;"), "less": fill("<a:"),
		"blank after lists": half("- ", "\n"), "lines after quotes": half(">", "a\n"), "definitions": fill("[a]: b\n"),
		"closing": half("[", "]"), "nested emphasis": half("*", "a*"), "backticks": fill("`"), "underscores": fill("_a"), "tabs": fill("\t- \n"),
		"quotes in lists": fill("- > "), "references": fill("[a][b]"), "setext": fill("a\n=\n"), "parentheses": fill("[a](("),
		"ladder": strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := range 340 {
				if !yield(strings.Repeat(" ", i) + "- a") {
					return
				}
			}
		}), "\n"),
	}
}

func TestBoundsMarkdown(t *testing.T) {
	t.Parallel()
	for name, source := range hostileMarkdown() {
		source = source[:min(len(source), maxMarkdown)]
		if _, err := renderMarkdown(source); err != nil && !errors.Is(err, errMarkdownDepth) {
			t.Errorf("%s: %v, want a result, or the error about the depth", name, err)
		}
	}
	for source, want := range map[string]error{strings.Repeat("a", maxMarkdown+1): errMarkdown,
		strings.Repeat("[]", maxDelimiters/2) + "_": errDelimiters} {
		if _, err := renderMarkdown(source); !errors.Is(err, want) {
			t.Errorf("%.4s… of %d bytes: %v, want %v", source, len(source), err, want)
		}
	}
}

func BenchmarkHostileMarkdown(b *testing.B) {
	for name, source := range hostileMarkdown() {
		source = source[:min(len(source), maxMarkdown)]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = renderMarkdown(source) // some are refused
			}
		})
	}
}
