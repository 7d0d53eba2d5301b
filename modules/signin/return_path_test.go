package signin

import (
	"net/url"
	"strings"
	"testing"
)

func TestReturnPathAcceptsOwnPagesOnly(t *testing.T) {
	t.Parallel()
	for _, same := range []string{
		"/", "/emails?status=failed", "/emails/msg_1#top", "/emails/", "/requests?q=https://example.com//x",
		"/emails?q=%5C%22a%2F%2F", "/settings/billing?from=%E2%82%AC", "/traffic", "/users",
		"/x/%2e%2ehidden",
	} {
		if got := ReturnPath(same); got != same {
			t.Errorf("ReturnPath(%q) = %q, want it unchanged", same, got)
		}
	}
	for _, text := range []string{
		"", "emails", "?q=1", "#top", "//evil.example", "///evil.example", `/\evil.example`, `\\evil.example`,
		"https://evil.example/", "https:", "https:/evil.example", "https:evil.example",
		"javascript:alert(1)", "/a\r\nSet-Cookie: x=y", "/\t/evil.example", "\t//evil.example", "/ /evil.example",
		" //evil.example", "/a//b", "/\u2028", "/%zz", "/\x00",
		"/%2f%2fevil.example", "/%2Fevil.example", "/%5cevil.example", "/%5C%5Cevil.example", "/%09/evil.example",
		"/%0d%0aevil", "/%00", "/./", "/.//evil.example", "/..//evil.example",
		"/%2e/evil", "/a/../t/x", "/a/%2e%2e/t/x", "/t/x", "/%74/x", "/u/x", "/t", "/api", "/api/session/oidc",
		"/graphql", "/graphql?query={me}", "//user@evil.example", "http://[::1]/", "/" + strings.Repeat("a", maxReturn),
	} {
		if got := ReturnPath(text); got != "/" {
			t.Errorf("ReturnPath(%q) = %q, want \"/\"", text, got)
		}
	}
}

func FuzzReturnPath(f *testing.F) {
	f.Add("//evil")
	f.Add("/emails?x=1#y")
	f.Add("/%2f%2fevil")
	base := &url.URL{Scheme: "https", Host: "mail.example.com", Path: "/sign-in"}
	f.Fuzz(func(t *testing.T, text string) {
		got := ReturnPath(text)
		at, err := base.Parse(got)
		if err != nil || at.Host != base.Host || at.Scheme != base.Scheme || !strings.HasPrefix(got, "/") ||
			strings.HasPrefix(got, "//") || strings.ContainsAny(got, "\\\r\n\t\x00") {
			t.Errorf("ReturnPath(%q) = %q, which is not a page of this installation", text, got)
		}
	})
}
