package dashboard

import (
	"strings"
	"testing"
)

func TestPreviewEmulatesColorSchemeAndDevice(t *testing.T) {
	t.Parallel()
	const own = "https://mail.example.com/files/images/"
	for name, c := range map[string]struct{ scheme, email, shown string }{
		"dark": {"dark", "<style>@media (prefers-color-scheme: dark){p{color:#fff}}@media(PREFERS-COLOR-SCHEME:light ){i{}}</style>",
			"<style>@media (min-width:0){p{color:#fff}}@media(max-width:0){i{}}</style>"},
		"light": {"light", "<style>@media screen and ( prefers-color-scheme /* x */ : dark ) and (min-width:1px){}</style>",
			"<style>@media screen and (max-width:0) and (min-width:1px){}</style>"},
		"negated":     {"dark", "<style>@media not all and (prefers-color-scheme:dark){}</style>", "<style>@media not all and (min-width:0){}</style>"},
		"bare":        {"light", "<style>@media (prefers-color-scheme){}</style>", "<style>@media (min-width:0){}</style>"},
		"unchosen":    {"", "<style>@media (prefers-color-scheme:dark){}</style>", "<style>@media (prefers-color-scheme:dark){}</style>"},
		"invalid":     {"sepia", "<style>@media (prefers-color-scheme:dark){}</style>", "<style>@media (prefers-color-scheme:dark){}</style>"},
		"declaration": {"dark", "<style>:root{color-scheme: light dark;supported-color-schemes:light dark}</style>", "<style>:root{color-scheme:dark;supported-color-schemes:light dark}</style>"},
		"only light":  {"dark", "<style>:root{color-scheme:light only}</style>", "<style>:root{color-scheme:light only}</style>"},
		"inline":      {"dark", `<p style="color:red;color-scheme:light dark">`, `<p style="color:red;color-scheme:dark">`},
		"meta":        {"dark", `<meta name="color-scheme" content="light dark">`, `<meta name="color-scheme" content="dark">`},
		"media": {"dark", `<style media="(prefers-color-scheme:dark)">p{}</style><source media="(prefers-color-scheme:light)">`,
			`<style media="(min-width:0)">p{}</style><source media="(max-width:0)">`},
		"device": {"", "<style>@media only screen and (max-device-width:480px){} .device-width{}</style>",
			"<style>@media only screen and (max-width:480px){} .device-width{}</style>"},
		"text":      {"dark", "<p>(prefers-color-scheme: dark)</p>", "<p>(prefers-color-scheme: dark)</p>"},
		"own image": {"", `<img src="` + own + `img_1.png"><img srcset="` + own + `img_1.png">`, `<img src="` + own + `img_1.png"><img>`},
		"elsewhere": {"", `<img src="https://evil.example/files/images/img_1.png">`, `<img>`},
	} {
		look := appearance{images: own}
		look.setScheme(c.scheme)
		var got strings.Builder
		if err := clean(&got, strings.NewReader(c.email), look); err != nil || got.String() != c.shown {
			t.Errorf("%s: %q is shown as %q (%v), want %q", name, c.email, got.String(), err, c.shown)
		}
	}
}
