package settings

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
)

func TestParseOperatorSetting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Operator{
		"none":    {},
		"capture": {Kind: "capture"},
		"twilio://AC1:t%40k@api.twilio.com?from=%2B4915112345678": {Kind: "twilio", SID: "AC1",
			Secret: secret.New("t@k"), URL: "https://api.twilio.com", From: "+4915112345678"},
		"twilio://AC1:tok@api.twilio.com?from=+4915112345678": {Kind: "twilio", SID: "AC1",
			Secret: secret.New("tok"), URL: "https://api.twilio.com", From: "+4915112345678"},
		"http://gate:pw@10.0.0.7:8080/send?route=1&from=Shop": {Kind: "http", User: "gate",
			Secret: secret.New("pw"), URL: "http://10.0.0.7:8080/send?route=1", From: "Shop"},
		"https://sms.example.com/": {Kind: "http", Secret: secret.New(""), URL: "https://sms.example.com/"},
	} {
		got, err := parseOperator(text)
		if err != nil || got.Kind != want.Kind || got.SID != want.SID || got.User != want.User || got.URL != want.URL ||
			got.From != want.From || got.Secret.Reveal() != want.Secret.Reveal() {
			t.Errorf("setting %q is parsed as %+v, %v; want %+v", text, got, err, want)
		}
		if shown := got.LogValue().String(); want.Secret.Reveal() != "" &&
			strings.Contains(shown, want.Secret.Reveal()) {
			t.Errorf("log value %q contains the secret", shown)
		}
	}
	for _, text := range []string{"twilio", "smpp://x", "twilio://api.twilio.com?from=12345",
		"twilio://AC1:s3cret@api.twilio.com", "twilio://AC1:s3cret@h/path?from=12345", "http://user@h/",
		"https://h/?from=%0a", "ht!tp://s3cret"} {
		if _, err := parseOperator(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("setting %q: %v, want an error without the secret", text, err)
		}
	}
}
