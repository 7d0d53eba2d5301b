package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
)

const httpGroup = "HTTP"

// AllowPublic allows development mode to listen on a public address.
var AllowPublic = setting.Declare(setting.Setting[bool]{
	Name: "POSTRIDER_ALLOW_PUBLIC", Group: httpGroup, Form: setting.Switch(),
	Help: "Let development mode listen on an address that others can reach.",
})

// HTTPAddr is host:port; port 0 is any free port.
var HTTPAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_HTTP_ADDR", Group: httpGroup, Form: setting.HostPort(), Default: "127.0.0.1:8080",
	Help: "Address on which to serve the API, GraphQL, dashboard and public links. Port 0 means any free port.",
	Check: func(v setting.Values, addr string) error {
		if othersReach(v, addr) {
			return fmt.Errorf("is %q, which is reachable from other machines: development mode has no real secrets "+
				"and shows all mail; listen on 127.0.0.1, or use --allow-public", addr)
		}
		return nil
	},
})

// BaseURL is scheme, host and port, without a trailing slash. It is empty in development mode on port 0,
// until the port is known.
var BaseURL = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_BASE_URL", Group: httpGroup, DefaultText: "derived from the address in development",
	Help:     "The public URL, for links. Required in production.",
	Required: "the public URL of this server, for example https://mail.example.com",
	Form:     setting.Syntax[string]{Placeholder: "URL", Parse: parseBaseURL},
	From: func(v setting.Values) string {
		host, port, err := net.SplitHostPort(HTTPAddr.Get(v))
		if v.Mode != setting.Dev || err != nil || port == "0" {
			return ""
		}
		if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
			host = "127.0.0.1" // the address by which this machine reaches it
		}
		return "http://" + net.JoinHostPort(host, port)
	},
})

// HTTPTLSAddr is host:port; if empty, HTTP is served without TLS.
var HTTPTLSAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_HTTP_TLS_ADDR", Group: httpGroup, Form: setting.HostPort(), DefaultText: "nowhere",
	Help: "Address on which to serve the same over TLS, for example :443. Requests to POSTRIDER_HTTP_ADDR are " +
		"redirected there, and tracking hosts are served there with certificates from an ACME authority.",
	Check: func(v setting.Values, addr string) error {
		if addr != "" && !strings.HasPrefix(BaseURL.Get(v), "https://") {
			return errors.New("redirects to POSTRIDER_BASE_URL, which must be an https:// URL")
		}
		return NotPublic(v, addr)
	},
})

// HTTPTLSCert and HTTPTLSKey are for HTTPTLSAddr. Both are empty if the certificate comes from an ACME
// authority.
var (
	HTTPTLSCert = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_HTTP_TLS_CERT", Group: httpGroup, Form: setting.Text("FILE"),
		DefaultText: "from the ACME authority",
		Help:        "PEM file with the certificate chain of POSTRIDER_HTTP_TLS_ADDR, reloaded when it changes.",
		Check: func(v setting.Values, file string) error {
			if (file == "") != (HTTPTLSKey.Get(v) == "") {
				return errors.New("must be set together with POSTRIDER_HTTP_TLS_KEY")
			}
			return nil
		},
	})
	HTTPTLSKey = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_HTTP_TLS_KEY", Group: httpGroup, Form: setting.Text("FILE"),
		Help: "PEM file with its private key.",
	})
)

// TrustedProxies are trusted to report the address of their clients.
var TrustedProxies = setting.Declare(setting.Setting[[]netip.Prefix]{
	Name: "POSTRIDER_TRUSTED_PROXIES", Group: httpGroup, Form: setting.Ranges(),
	Help: "Address ranges of proxies whose X-Forwarded-For is trusted, separated by commas.",
})

// BaseHost returns the host of the base URL, without a port.
func BaseHost(v setting.Values) string {
	u, err := url.Parse(BaseURL.Get(v))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// parseBaseURL accepts only scheme and host, because paths are appended to it.
func parseBaseURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return "", errors.New("must be an https:// or http:// URL with a host")
	case u.User != nil, u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "", u.ForceQuery:
		return "", errors.New("can only have a scheme, host and port")
	}
	host := u.Hostname()
	if !setting.IsAddress(host) {
		if host, err = setting.ParseHost(host); err != nil {
			return "", err
		}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() != "" {
		host += ":" + u.Port()
	}
	return u.Scheme + "://" + host, nil
}

// SMTPAddr returns the default address of a mail listener: the standard port in production, and devPort on
// loopback in development. A server that uses any free HTTP port probably runs next to another server, so it
// uses any free port here as well.
func SMTPAddr(port, devPort string) func(setting.Values) string {
	return func(v setting.Values) string {
		switch {
		case v.Mode != setting.Dev:
			return ":" + port
		case strings.HasSuffix(HTTPAddr.Get(v), ":0"):
			return "127.0.0.1:0"
		}
		return "127.0.0.1:" + devPort
	}
}

// NotPublic rejects a public listener in development mode.
func NotPublic(v setting.Values, addr string) error {
	if othersReach(v, addr) {
		return fmt.Errorf("is %q, which is reachable from other machines: listen on 127.0.0.1 in development mode, "+
			"or use --allow-public", addr)
	}
	return nil
}

// othersReach reports whether development mode would be reachable from other machines without the operator's
// permission.
func othersReach(v setting.Values, addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && v.Mode == setting.Dev && !isLoopback(host) && !AllowPublic.Get(v)
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		// RFC 6761 section 6.3: names below localhost are this machine.
		return host == "localhost" || strings.HasSuffix(host, ".localhost")
	}
	return addr.Unmap().IsLoopback()
}

// OtherOrigins returns the other URLs of development mode; passkeys need the one with a host name.
func OtherOrigins(v setting.Values) []string {
	host, plain := strings.CutPrefix(BaseURL.Get(v), "http://")
	_, port, err := net.SplitHostPort(host)
	if v.Mode != setting.Dev || !plain || err != nil {
		return nil
	}
	return []string{"http://localhost:" + port, "http://127.0.0.1:" + port}
}
