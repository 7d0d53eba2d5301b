package unsubscribe

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/brand"
	"github.com/postrider/postrider/runtime/base/expect"
	shared "github.com/postrider/postrider/runtime/web/theme"
)

// fakeBrands returns the same brand for every account.
type fakeBrands struct {
	brand brand.Brand
	fail  error
}

func (f fakeBrands) Brand(context.Context, string) (brand.Brand, error) { return f.brand, f.fail }

func branded(b fakeBrands) http.Handler {
	links := &fakeLinks{}
	return New(Options{Links: links, Senders: links, Brands: b, Logger: slog.New(slog.DiscardHandler)})
}

func pixel(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestThePageLooksAsTheAccountSays(t *testing.T) {
	t.Parallel()
	acme := brand.Brand{Name: "Acme & Söhne", Color: "#1f5fbf", Logo: pixel(t)}
	for name, c := range map[string]struct {
		path  string
		brand fakeBrands
		image bool
	}{
		"brand_whole":   {"/u/category", fakeBrands{brand: acme}, true},
		"brand_name":    {"/u/all", fakeBrands{brand: brand.Brand{Name: acme.Name}}, false},
		"brand_logo":    {"/u/all", fakeBrands{brand: brand.Brand{Logo: acme.Logo}}, true},
		"brand_hostile": {"/u/all", fakeBrands{brand: brand.Brand{Name: hostile}}, false},
		"brand_gone":    {"/u/gone", fakeBrands{brand: acme}, false},
		"brand_broken":  {"/u/all", fakeBrands{fail: errors.New("pq: secret detail")}, false},
		"brand_none":    {"/u/all", fakeBrands{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ask(t, branded(c.brand), http.MethodGet, c.path, "", "")
			head, body, _ := strings.Cut(w.Body.String(), "<body>")
			expect.Golden(t, name+".html", body)
			policy := w.Result().Header.Get("Content-Security-Policy")
			_, rest, _ := strings.Cut(head, "<style>")
			inside, _, _ := strings.Cut(rest, "</style>")
			if w.Code != http.StatusOK || !strings.Contains(policy, shared.Source(inside)) ||
				strings.Contains(policy, "img-src data:") != c.image || strings.Contains(body, "<img") != c.image {
				t.Errorf("status %d, policy %q, want one that allows the page's style, and a logo if there is one: %t",
					w.Code, policy, c.image)
			}
		})
	}
}

// For every color, the text of the button has a contrast of at least 4.5 (WCAG 2.2, 1.4.3).
func TestTextIsReadableOnAnyColor(t *testing.T) {
	t.Parallel()
	for red := 0; red <= 255; red += 15 {
		for green := 0; green <= 255; green += 15 {
			for blue := 0; blue <= 255; blue += 15 {
				color := "#" + hex(red) + hex(green) + hex(blue)
				css := string(look{of: brand.Brand{Color: color}}.Style())
				_, last, _ := strings.Cut(css, "--brand: "+color)
				l := relativeLuminance(uint8(red), uint8(green), uint8(blue))
				contrast := 1.05 / (l + .05)
				if strings.Contains(last, "--brand-on: #000") {
					contrast = (l + .05) / .05
				} else if !strings.Contains(last, "--brand-on: #fff") {
					t.Fatalf("the style of %s has no color of text: %s", color, last)
				}
				if contrast < 4.5 {
					t.Fatalf("text on %s has a contrast of %.2f, want 4.5", color, contrast)
				}
			}
		}
	}
}

func hex(n int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[n>>4], digits[n&15]})
}
