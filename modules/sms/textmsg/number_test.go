package textmsg

import (
	"strings"
	"testing"
)

func TestParseAcceptsMobileNumbers(t *testing.T) {
	t.Parallel()
	for text, region := range map[string]string{
		"+4915112345678":    "DE",
		" +4915112345678\n": "DE",
		"+15005550006":      "US", // unassigned area code: the main country of the calling code
		"+12125550123":      "US",
		"+18765550123":      "JM",
		"+14165550123":      "CA",
		"+447400123456":     "GB",
		"+77011234567":      "KZ",
		"+79161234567":      "RU",
		"+390612345678":     "IT",
		"+881612345678":     NoRegion,
	} {
		n, err := Parse(text)
		if err != nil || n.E164 != strings.TrimSpace(text) || n.Region != region {
			t.Errorf("Parse(%q) = %+v, %v; want it unchanged with region %s", text, n, err, region)
		}
	}
}

func TestParseRefusesInvalidNumbers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "+", "4915112345678", "0151 12345678", "+49 151 12345678", "+49(151)12345678",
		"+4915112345678x5", "tel:+4915112345678", "+0123456789",
		"+491", "+49", "+49151123456781234567", "+1500555000", "+999123456789", "+49\x0015112345678", "＋4915112345678",
		"+４９15112345678", "+49015112345678",
		"alice@example.com", "+49151\n12345678", "+1-800-FLOWERS", "110", "+" + strings.Repeat("1", 4000)} {
		if n, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", text, n)
		}
	}
}

func TestRegionsAreCountries(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"DE": true, "US": true, "XK": true, "ZZ": false, "de": false, "001": false,
		"": false, "EU": false} {
		if IsRegion(code) != want {
			t.Errorf("IsRegion(%q) = %t, want %t", code, !want, want)
		}
	}
	if n := len(Regions()); n < 200 {
		t.Errorf("%d regions are known, want all countries", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"+4915112345678", "+15005550006", "+1", "0049", "+８", "\x00", "+881612345678",
		"+49015112345678"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(n.E164)
		if err != nil || again != n || !form.MatchString(n.E164) || n.Region != NoRegion && !IsRegion(n.Region) {
			t.Errorf("Parse(%q) = %+v, which parses as %+v, %v", text, n, again, err)
		}
	})
}

func TestCheckSender(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"+4915112345678": true, "12345": true, "Postrider": true,
		"My Shop 24": true, "MG0123456789abcdef0123456789abcdef": true,
		"": false, "12": false, "123456789": false, "Abcdefghijkl": false, " Shop": false, "Shop\r\n": false,
		"Ünïcode": false, "+49": false, " +4915112345678": false} {
		if err := CheckSender(text); (err == nil) != want {
			t.Errorf("CheckSender(%q) returned %v, want it accepted: %t", text, err, want)
		}
	}
}
