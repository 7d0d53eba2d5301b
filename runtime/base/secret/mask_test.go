package secret_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
)

func TestURLsAreShownWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	const s = "s3cr3t"
	for text, want := range map[string]string{
		"":                               "",
		"https://gate.example":           "https://gate.example",
		"https://gate.example/a?":        "https://gate.example/a?",
		"https://gate.example/?key=" + s: "https://gate.example/?key=********",
		"https://gate.example/a?user=u&key=" + s + "&x=&" + s + "#" +
			"top": "https://gate.example/a?user=********&key=********&x=&********#top",
		"https://gate.example?key=" + s + "=" + s: "https://gate.example?key=********",
		"https://u:" + s + "@gate.example:8/a":    "https://********@gate.example:8/a",
		"https://" + s + "@gate.example":          "https://********@gate.example",
		"nats://u:" + s + "@@h":                   "nats://********@h",
		"https://gate.example/a@b?k=" + s:         "https://gate.example/a@b?k=********",
	} {
		got := secret.MaskURL(text)
		if got != want || strings.Contains(got, s) {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
		if again := secret.MaskURL(got); again != got {
			t.Errorf("%s, masked again, is %s, want it unchanged", got, again)
		}
		if back, whole := secret.UnmaskURL(got, text); back != text || !whole {
			t.Errorf("%s is restored to %s (%t), want %s", got, back, whole, text)
		}
	}
}

func TestMaskedURLsGetTheirOwnSecretsOnly(t *testing.T) {
	t.Parallel()
	const original = "https://gate.example/a?user=ada&key=one&key=two"
	for text, want := range map[string]string{
		"https://gate.example/a?key=********&user=********&key=********": "https://gate.example/a?key=one&user=ada&key=two",
		"https://gate.example/a?user=bob&key=********":                   "https://gate.example/a?user=bob&key=one",
		"https://gate.example/a?key=new&key=********":                    "https://gate.example/a?key=new&key=two",
		"https://gate.example/a":                                         "https://gate.example/a",
		"https://evil.example/a?key=********":                            "", // another host
		"https://gate.example/b?key=********":                            "", // another path
		"https://gate.example:8443/a?key=********":                       "",
		"https://gate.example/a?other=********":                          "", // another field
		"https://gate.example/a?key=x********":                           "",
		"https://********@gate.example/a":                                "",
	} {
		got, whole := secret.UnmaskURL(text, original)
		if whole != (want != "") || whole && got != want {
			t.Errorf("%s is restored to %s (%t), want %q", text, got, whole, want)
		}
		if !whole && (strings.Contains(got, "one") || strings.Contains(got, "two")) &&
			!strings.HasPrefix(got, "https://gate.example/a?") {
			t.Errorf("%s got a secret of another address: %s", text, got)
		}
	}
}
