package bounce

import "testing"

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
