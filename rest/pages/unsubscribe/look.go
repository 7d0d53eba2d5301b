package unsubscribe

import (
	"encoding/base64"
	"html/template"
	"math"
	"strconv"

	"github.com/postrider/postrider/modules/accounts/brand"
	shared "github.com/postrider/postrider/runtime/web/theme"
)

// look is the sender's brand on a page; a zero brand shows nothing.
type look struct {
	of     brand.Brand
	domain string // the alternative text of the logo
}

// Shown reports whether a line of the page shows the brand.
func (l look) Shown() bool { return l.Name() != "" || len(l.of.Logo) > 0 }

// Name is the brand's name, on one line.
func (l look) Name() string { return cleanName(l.of.Name) }

// Logo returns the logo as a data URL, so that the browser fetches nothing.
func (l look) Logo() template.URL {
	if len(l.of.Logo) == 0 {
		return ""
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(l.of.Logo)) //nolint:gosec // base64 of a PNG
}

// Alt is the alternative text of the logo; empty if the name is shown next to it.
func (l look) Alt() string {
	if l.Name() != "" {
		return ""
	}
	return l.domain
}

// Style returns the common style followed by the color of the brand.
func (l look) Style() template.CSS {
	red, green, blue, ok := parseColor(l.of.Color)
	if !ok {
		return template.CSS(shared.Style + style) //nolint:gosec // our own files
	}
	on := "#fff"
	if lighter := relativeLuminance(red, green, blue); 1.05/(lighter+.05) < (lighter+.05)/.05 {
		on = "#000"
	}
	return template.CSS(shared.Style + style + ":root { --brand: " + l.of.Color + "; --brand-edge: var(--color-line-strong); --brand-on: " + on + "; }\n") //nolint:gosec // the color is six digits
}

// contentPolicy allows our own style by its hash, our own form, and a logo.
func (l look) contentPolicy() string {
	images := ""
	if len(l.of.Logo) > 0 {
		images = "; img-src data:"
	}
	return "default-src 'none'; style-src " + shared.Source(string(l.Style())) + images +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// parseColor reads #rrggbb.
func parseColor(color string) (red, green, blue uint8, ok bool) {
	if len(color) != 7 || color[0] != '#' {
		return 0, 0, 0, false
	}
	n, err := strconv.ParseUint(color[1:], 16, 24)
	return uint8(n >> 16), uint8(n >> 8), uint8(n), err == nil
}

// relativeLuminance returns the luminance of a color, from 0 to 1 (WCAG 2.2, "relative luminance"). Text on
// the color is white or black, whichever contrasts more; one of the two has a contrast of at least 4.5 with
// every color.
func relativeLuminance(red, green, blue uint8) float64 {
	linear := func(octet uint8) float64 {
		c := float64(octet) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(red) + 0.7152*linear(green) + 0.0722*linear(blue)
}
