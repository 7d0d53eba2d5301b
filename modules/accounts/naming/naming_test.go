package naming_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/naming"
)

// Names appear in emails that the installation signs, so they cannot contain links, line breaks or invisible
// characters.
func TestNamesCannotContainLinks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Acme", "Ada Lovelace", "O’Brien & Søns, Inc.", "株式会社ポスト", "example.com",
		"Booking.com", "Node.js", "Dr. Ada", "A.B. Smith", "J.R.R. Tolkien", "v1.2", "3.14", "50/50", "Team: A/B",
		"👩\u200d💻 Ada", "می\u200cخواهم", "St. Mary's", "Ada @ home", "C++ & C#", "#1", "100 %", "{Acme}"} {
		if err := naming.Check(name); err != nil {
			t.Errorf("name %q was rejected: %v", name, err)
		}
	}
	for _, name := range []string{"URGENT: open https://evil.example", "https://evil.com", "Acme www.evil.com",
		"see evil.com now", "evil.com/login", "login at evil.co.uk", "pay: evil.xn--p1ai", "открой зло.рф",
		"x@evil.com",
		"write to mailto:x", "(evil.com)", "evil.com?", "EVIL.COM!", "-evil.com. x", "javascript://x",
		"open evil.example", "Acme\nBcc: x", "a\x00b", "a\u2028b", "a\u202eb", "a\u200bb", "a\u0085b",
		"{{unsubscribe_url}}",
		strings.Repeat("a", 201), "\xff"} {
		if naming.Check(name) == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
}
