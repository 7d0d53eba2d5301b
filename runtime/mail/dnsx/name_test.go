package dnsx

import "testing"

func TestCanonical(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Mail.Example.COM.": "mail.example.com", "example.com": "example.com",
		"": "", ".": ""} {
		if got := CanonicalName(name); got != want {
			t.Errorf("the canonical form of %q is %q, want %q", name, got, want)
		}
	}
}
