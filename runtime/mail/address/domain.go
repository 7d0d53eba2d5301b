package address

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// profile is UTS 46 lookup processing, non-transitional: all registered names can be looked up, and every
// spelling of a name maps to one form.
var profile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.StrictDomainName(true),
	idna.Transitional(false),
)

// ParseDomain converts a host name to lower-case A-labels. It requires at least two labels and rejects IP
// addresses, so it fits sending domains and the domain of an address.
func ParseDomain(s string) (string, error) {
	if len(s) > maxInput {
		return "", fmt.Errorf("domain is longer than %d bytes", MaxDomain)
	}
	if err := checkText(s); err != nil {
		return "", fmt.Errorf("domain %w", err)
	}
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil || strings.HasPrefix(s, "[") {
		return "", errors.New("domain is an IP address")
	}
	domain, err := toASCII(s)
	if err != nil {
		return "", err
	}
	if err := checkLabels(domain); err != nil {
		return "", err
	}
	return domain, nil
}

// toASCII leaves plain names to checkLabels, which has better error messages; only names with Unicode or
// A-labels go through IDNA.
func toASCII(s string) (string, error) {
	lower := strings.ToLower(s)
	if isASCII(s) && !strings.HasPrefix(lower, "xn--") && !strings.Contains(lower, ".xn--") {
		return lower, nil
	}
	domain, err := profile.ToASCII(s)
	if err != nil {
		return "", errors.New("domain is not a valid internationalised name")
	}
	return strings.ToLower(domain), nil
}

// checkLabels validates a name by RFC 1123 section 2.1 and RFC 1035 section 2.3.4.
func checkLabels(domain string) error {
	if domain == "" {
		return errors.New("domain is empty")
	}
	if strings.HasSuffix(domain, ".") {
		return errors.New("domain ends with a dot")
	}
	if len(domain) > MaxDomain {
		return fmt.Errorf("domain is longer than %d bytes", MaxDomain)
	}
	labels := strings.Split(domain, ".")
	for _, label := range labels {
		if err := checkLabel(label); err != nil {
			return err
		}
	}
	if len(labels) < 2 {
		return errors.New("domain has no dot")
	}
	// No top-level domain is a number (RFC 3696 section 2), so this is an IPv4
	// address in one of its spellings.
	if strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		return errors.New("domain is an IP address")
	}
	return nil
}

func checkLabel(label string) error {
	if label == "" {
		return errors.New("domain has an empty label")
	}
	if len(label) > MaxLabel {
		return fmt.Errorf("domain label is longer than %d bytes", MaxLabel)
	}
	if label[0] == '-' || label[len(label)-1] == '-' {
		return errors.New("domain label starts or ends with a hyphen")
	}
	for i := range len(label) {
		c := label[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return fmt.Errorf("domain has %q, which is not allowed", rune(c))
		}
	}
	return nil
}

// readableDomain converts A-labels to Unicode if that form maps back to them.
func readableDomain(domain string) string {
	if !strings.Contains(domain, "xn--") {
		return domain
	}
	readable, err := profile.ToUnicode(domain)
	if err != nil || checkInvisible(readable) != nil {
		return domain
	}
	if back, err := ParseDomain(readable); err != nil || back != domain {
		return domain
	}
	return readable
}

// ReadableDomain returns an A-label domain in the form for display.
func ReadableDomain(domain string) string { return readableDomain(domain) }

// IsPublicSuffix reports whether the public can register names below the domain (publicsuffix.org, including
// the private section): such a domain cannot be a sending domain.
func IsPublicSuffix(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

// RegistrableDomain returns the registered part of a domain (`example.co.uk` for `mail.example.co.uk`), or
// "" for a public suffix.
func RegistrableDomain(domain string) string {
	registrable, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return ""
	}
	return registrable
}
