package weburl_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/tracking/weburl"
)

func TestNormalizesLikeBrowser(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"https://example.com": "https://example.com", " \n https://example.com/a\tb ": "https://example.com/ab",
		"HTTPS://Example.com/A":                      "https://Example.com/A",
		"https://example.com/ä b\"<>`":               "https://example.com/%C3%A4%20b%22%3C%3E%60",
		"https://example.com/%zz%20%":                "https://example.com/%zz%20%",
		"http://user:pw@example.com:8080/?q=a@b:c#d": "http://user:pw@example.com:8080/?q=a@b:c#d",
		"https://bücher.example?x":                   "https://xn--bcher-kva.example?x",
		"http://[2001:db8::1]/":                      "http://[2001:db8::1]/", "http://[2001:db8::1]:81/": "http://[2001:db8::1]:81/",
		"https://e.com/'(),;|{}^": "https://e.com/'(),;|{}^",
		"https://e_x.example/":    "https://e_x.example/", "https://example.com//x/../y": "https://example.com//x/../y",
	} {
		got, ok := weburl.Normalize(written)
		if !ok || got != want {
			t.Errorf("Normalize(%q) returned %q, %v; want %q", written, got, ok, want)
		}
		if again, ok := weburl.Normalize(got); !ok || again != got {
			t.Errorf("normalizing %q again returned %q, %v", got, again, ok)
		}
	}
	for _, written := range []string{"", "mailto:a@b.c", "javascript:alert(1)//http://", "https:/e.com", "https:e.com",
		"//e.com", "ftp://e.com", "https://", "https:///x",
		"https://?x", "https://user@/", "https://:80/", "https://e.com:x/", `https://e.com\x`, "https://e.com/{{x}}",
		"https://e x.com/", "https://e%20.com", "https://a b@e.com/",
		"https://xn--zzzzzzz-.ü/", "https://e.com/" + strings.Repeat("a", weburl.Longest), "https://\x00/"} {
		if got, ok := weburl.Normalize(written); ok {
			t.Errorf("%q became %q", written, got)
		}
	}
}
