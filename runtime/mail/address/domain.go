package address

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// profile is UTS 46 lookup processing, non-transitional: what is registered can
// be looked up, and every spelling of a name maps to one.
var profile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.StrictDomainName(true),
	idna.Transitional(false),
)

// ParseDomain brings a host name into lower-case A-labels. It wants at least two
// labels and no IP address, so it fits sending domains and the right side of an
// address alike.
func ParseDomain(s string) (string, error) {
	if len(s) > maxInput {
		return "", fmt.Errorf("domain is longer than %d octets", MaxDomain)
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

// toASCII leaves plain names to checkLabels, which has the better reasons; only
// names with Unicode or A-labels go through IDNA.
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

// checkLabels holds a name against RFC 1123 section 2.1 and RFC 1035 section 2.3.4.
func checkLabels(domain string) error {
	if domain == "" {
		return errors.New("domain is empty")
	}
	if strings.HasSuffix(domain, ".") {
		return errors.New("domain ends with a dot")
	}
	if len(domain) > MaxDomain {
		return fmt.Errorf("domain is longer than %d octets", MaxDomain)
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
		return fmt.Errorf("domain label is longer than %d octets", MaxLabel)
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

// readableDomain shows A-labels in Unicode where that form leads back to them.
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

// ReadableDomain is the form of an A-label domain that a person reads.
func ReadableDomain(domain string) string { return readableDomain(domain) }

// IsPublicSuffix says whether anyone can register names below the domain
// (publicsuffix.org, the private section included): nobody sends from there.
func IsPublicSuffix(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

// RegistrableDomain is the part of a domain that somebody registered
// (`mail.example.co.uk` gives `example.co.uk`), empty for a public suffix.
func RegistrableDomain(domain string) string {
	registrable, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return ""
	}
	return registrable
}
