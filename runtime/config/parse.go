package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

func orElse(given, standard string) string {
	if given == "" {
		return standard
	}
	return given
}

// list splits a setting that takes several.
func list(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func (r *resolver) onOff(setting string, s Switch) bool {
	switch strings.ToLower(string(s)) {
	case "", "false", "0", "no", "off":
		return false
	case "true", "1", "yes", "on":
		return true
	default:
		r.wrong.addf(setting, "is %q; want true or false", string(s))
		return false
	}
}

func (r *resolver) number(setting, text string, standard, least, most int) int {
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		r.wrong.addf(setting, "is %q; want a number from %d to %d", text, least, most)
		return standard
	}
	return n
}

func (r *resolver) hostPort(setting, text string) (host string, port int, ok bool) {
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		r.wrong.addf(setting, "is %q; want host:port, as 127.0.0.1:8080", text)
		return "", 0, false
	}
	port, err = strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		r.wrong.addf(setting, "has port %q; want a number from 0 to 65535", portText)
		return "", 0, false
	}
	if _, err := parseDomain(host); host != "" && !isIP(host) && err != nil {
		r.wrong.addf(setting, "has host %q, which is neither an address nor a name", host)
		return "", 0, false
	}
	return host, port, true
}

// dnsServer is an address: a name would need a resolver to be found.
func (r *resolver) dnsServer(setting, text string) string {
	if text == "" {
		return ""
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(addr, 53).String()
	}
	server, err := netip.ParseAddrPort(text)
	if err != nil || server.Port() == 0 {
		r.wrong.addf(setting, "is %q; want an address and port, as 127.0.0.1:53", text)
		return ""
	}
	return server.String()
}

// baseURL is scheme and host only: paths are appended to it.
func (r *resolver) baseURL(text string) string {
	const setting = "POSTRIDER_BASE_URL"
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		r.wrong.addf(setting, "is no https:// or http:// URL with a host")
		return ""
	case u.User != nil, u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "", u.ForceQuery:
		r.wrong.addf(setting, "has more than scheme, host and port")
		return ""
	}
	host := u.Hostname()
	if !isIP(host) {
		if host = r.domain(setting, host); host == "" {
			return ""
		}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() != "" {
		host += ":" + u.Port()
	}
	return u.Scheme + "://" + host
}

func (r *resolver) endpoint(setting, text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" {
		r.wrong.addf(setting, "is no URL of OTLP over HTTP; want http://collector:4318")
		return ""
	}
	return text
}

// domain is a host name in A-labels, "" and a mistake when it is none.
func (r *resolver) domain(setting, text string) string {
	name, err := parseDomain(text)
	if err != nil {
		r.wrong.addf(setting, "has %q, which is not a host name", text)
		return ""
	}
	return name
}

// parseDomain accepts letters, digits and hyphens (RFC 5890 section 2.3), gives
// lower case A-labels.
func parseDomain(text string) (string, error) {
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(text, "."))
	if err != nil {
		return "", err
	}
	if name == "" || len(name) > 253 || isIP(name) {
		return "", errors.New("not a host name")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", errors.New("not a host name")
		}
	}
	return name, nil
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		// RFC 6761 section 6.3: names under localhost are this machine.
		return host == "localhost" || strings.HasSuffix(host, ".localhost")
	}
	return addr.Unmap().IsLoopback()
}

// seenAs is the host by which a listener on host is reached from this machine.
func seenAs(host string) string {
	if addr, err := netip.ParseAddr(host); host == "" || (err == nil && addr.IsUnspecified()) {
		return "127.0.0.1"
	}
	return host
}

func hostOf(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
