package theme_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/web/theme"
)

var (
	token = regexp.MustCompile(`(--[\w-]+):\s*([^;]+);`)
	pair  = regexp.MustCompile(`^light-dark\(([^,()]+), ([^,()]+)\)$`)
)

// The pages use the tokens of the dashboard: each token that they define has the same value there, in both themes.
func TestTheTokensAreTheDashboards(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../rest/pages/dashboard/src/app/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, found := range token.FindAllStringSubmatch(string(text), -1) {
		want[found[1]] = found[2]
	}
	light, rest, _ := strings.Cut(theme.Style, "@media (prefers-color-scheme: dark)")
	dark, _, _ := strings.Cut(rest, "\n}")
	n := 0
	for i, theme := range []string{light, dark} {
		for _, found := range token.FindAllStringSubmatch(theme, -1) {
			n++
			name, value := found[1], want[found[1]]
			if of := pair.FindStringSubmatch(value); of != nil {
				value = of[i+1]
			}
			if found[2] != value {
				t.Errorf("theme %d: %s is %q, and %q in the dashboard", i, name, found[2], value)
			}
		}
	}
	if n < 40 {
		t.Errorf("%d tokens were compared, want those of both themes", n)
	}
}

// Every token that a style uses exists, and pages define no colors.
func TestStylesUseTheTokens(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, found := range token.FindAllStringSubmatch(theme.Style, -1) {
		named[found[1]] = true
	}
	used, hex := regexp.MustCompile(`var\((--(?:color|font|radius)-[\w-]+)`), regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b`)
	for _, file := range []string{"look.css", "../../../rest/pages/welcome/page.css", "../../../rest/pages/unsubscribe/page.css",
		"../../../rest/api/openapi/docs.css", "../../../rest/pages/devinbox/inbox.css"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range used.FindAllStringSubmatch(string(text), -1) {
			if !named[found[1]] {
				t.Errorf("%s uses %s, which look.css does not have", file, found[1])
			}
		}
		if file == "look.css" {
			continue
		}
		for _, found := range hex.FindAllString(string(text), -1) {
			if found != "#fff" && found != "#000" { // paper below the documents and logos of others
				t.Errorf("%s has the color %s: use a token", file, found)
			}
		}
	}
}
