package setting

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// Syntax defines the syntax of a setting.
type Syntax[T any] struct {
	Placeholder string // of the value in the help, for example N; empty for a switch
	Takes       string // the bounds in words, for example "1 to 65535"; may be empty
	// Parse converts a text that is not empty. Its error continues a sentence that begins with the name of
	// the setting: `is "x"; want a number`. Several errors are joined with errors.Join. The error of a
	// secret does not quote the text.
	Parse func(text string) (T, error)
}

// Text accepts any text.
func Text(placeholder string) Syntax[string] {
	return Syntax[string]{Placeholder: placeholder, Parse: func(text string) (string, error) { return text, nil }}
}

// Number accepts a whole number between two bounds, inclusive.
func Number(least, most int) Syntax[int] {
	return Syntax[int]{Placeholder: "N", Takes: fmt.Sprintf("%d to %d", least, most),
		Parse: func(text string) (int, error) {
			n, err := strconv.Atoi(text)
			if err != nil || n < least || n > most {
				return 0, fmt.Errorf("is %q; want a number from %d to %d", text, least, most)
			}
			return n, nil
		}}
}

// Duration accepts a time between two bounds, for example 5s. A plain number is in seconds.
func Duration(least, most time.Duration) Syntax[time.Duration] {
	return Syntax[time.Duration]{Placeholder: "TIME", Takes: fmt.Sprintf("%s to %s", least, most),
		Parse: func(text string) (time.Duration, error) {
			d, err := time.ParseDuration(text)
			if seconds, plain := strconv.Atoi(text); plain == nil {
				d, err = time.Duration(seconds)*time.Second, nil
			}
			if err != nil || d < least || d > most {
				return 0, fmt.Errorf("is %q; want a duration from %s to %s, such as 5s", text, formatDuration(least),
					formatDuration(most))
			}
			return d, nil
		}}
}

// formatDuration formats a duration, with 0 instead of 0s.
func formatDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	return d.String()
}

// Switch accepts true and false.
func Switch() Syntax[bool] {
	return Syntax[bool]{Takes: "true or false", Parse: func(text string) (bool, error) {
		switch strings.ToLower(text) {
		case "false", "0", "no", "off":
			return false, nil
		case "true", "1", "yes", "on":
			return true, nil
		}
		return false, fmt.Errorf("is %q; want true or false", text)
	}}
}

// OneOf accepts one of several words.
func OneOf[T ~string](placeholder string, words ...T) Syntax[T] {
	names := make([]string, len(words))
	for i, word := range words {
		names[i] = string(word)
	}
	last := len(names) - 1
	takes := strings.Join(names[:last], ", ") + " or " + names[last]
	return Syntax[T]{Placeholder: placeholder, Takes: takes, Parse: func(text string) (T, error) {
		if !slices.Contains(words, T(text)) {
			return "", fmt.Errorf("is %q; want %s", text, takes)
		}
		return T(text), nil
	}}
}

// HostPort accepts host:port. The host may be empty.
func HostPort() Syntax[string] {
	return Syntax[string]{Placeholder: "HOST:PORT", Parse: func(text string) (string, error) {
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return "", fmt.Errorf("is %q; want host:port, such as 127.0.0.1:8080", text)
		}
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return "", fmt.Errorf("has port %q; want a number from 0 to 65535", port)
		}
		if _, err := ParseHost(host); host != "" && !IsAddress(host) && err != nil {
			return "", fmt.Errorf("has host %q, which is neither an address nor a name", host)
		}
		return text, nil
	}}
}

// Host accepts a host name. The value is in A-labels, in lower case.
func Host() Syntax[string] { return Syntax[string]{Placeholder: "NAME", Parse: ParseHost} }

// Hosts accepts a comma-separated list of host names.
func Hosts() Syntax[[]string] {
	return Syntax[[]string]{Placeholder: "NAME,...", Parse: func(text string) ([]string, error) {
		var hosts []string
		var wrong []error
		for _, item := range List(text) {
			host, err := ParseHost(item)
			hosts, wrong = append(hosts, host), append(wrong, err)
		}
		return hosts, errors.Join(wrong...)
	}}
}

// ParseHost returns a host name in A-labels, in lower case. It accepts letters, digits and hyphens (RFC
// 5890 section 2.3).
func ParseHost(text string) (string, error) {
	wrong := fmt.Errorf("has %q, which is not a host name", text)
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(text, "."))
	if err != nil || name == "" || len(name) > 253 || IsAddress(name) {
		return "", wrong
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", wrong
		}
	}
	return name, nil
}

// IsAddress reports whether a host is an IP address rather than a name.
func IsAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Ranges accepts a comma-separated list of address ranges. A single address is a range.
func Ranges() Syntax[[]netip.Prefix] {
	return Syntax[[]netip.Prefix]{Placeholder: "CIDR,...", Parse: func(text string) ([]netip.Prefix, error) {
		var ranges []netip.Prefix
		var wrong []error
		for _, item := range List(text) {
			prefix, err := parseRange(item)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("has %q, which is not an address range; want 10.0.0.0/8", item))
				continue
			}
			ranges = append(ranges, prefix)
		}
		return ranges, errors.Join(wrong...)
	}}
}

// Addresses accepts a comma-separated list of IP addresses.
func Addresses() Syntax[[]netip.Addr] {
	return Syntax[[]netip.Addr]{Placeholder: "IP,...", Parse: func(text string) ([]netip.Addr, error) {
		var addresses []netip.Addr
		var wrong []error
		for _, item := range List(text) {
			ip, err := netip.ParseAddr(item)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("has %q, which is not an address", item))
				continue
			}
			addresses = append(addresses, ip.Unmap())
		}
		return addresses, errors.Join(wrong...)
	}}
}

func parseRange(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}

// List splits a comma-separated text and drops empty items.
func List(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
