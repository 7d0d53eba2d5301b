package bounce

import (
	"strings"
	"testing"
)

func TestRedactRecipient(t *testing.T) {
	t.Parallel()
	for diagnostic, want := range map[string]string{
		"450 4.2.1 The mailbox of bob is busy":      "450 4.2.1",
		"550-5.1.1 <bob@example.net>: no such user": "550 5.1.1",
		"421 Too many connections from 192.0.2.1":   "421",
		"421-4.7.28": "421 4.7.28",
		"dial tcp 192.0.2.1:25: connection refused":    "dial tcp 192.0.2.1:25: connection refused",
		"the server does not know <bob@example.net> x": "the server does not know … x",
		"": "",
	} {
		if got := RedactRecipient(diagnostic); got != want {
			t.Errorf("%q: %q, want %q", diagnostic, got, want)
		}
	}
}

// Words of the provider stay, names of recipients do not.
func TestRedactReply(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"550 5.7.1 <bob.smith@example.net> blocked by policy":    "550 5.7.1 … blocked by policy",
		"550-5.7.26 mail from example.com\r\nis unauthenticated": "550-5.7.26 mail from example.com is unauthenticated",
		"550 5.2.1 The account of Bob is disabled":               "550 5.2.1",
		"550 no mail for SMITH, B":                               "550",
		"Smith does not want it":                                 "",
		"421 " + strings.Repeat("ü", 200):                        "421 " + strings.Repeat("ü", 148),
	} {
		if got := RedactReply(text, "bob.smith@example.net"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
