package smtpclient

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mjl-/mox/sasl"
)

// Smarthost is a server that accepts all mail, for any recipient.
type Smarthost struct {
	Host     string // name or address
	Port     int
	Implicit bool // TLS from the first byte (smtps)
	Username string
	Password string

	// Unverified accepts any certificate. Otherwise the certificate is verified wherever TLS is required:
	// smtps, credentials, an enforcing envelope. A smarthost on this machine is verified for an enforcing
	// envelope only.
	Unverified bool

	// InProcess is the development inbox: the mail does not leave the process, so an enforcing envelope
	// requires nothing of it.
	InProcess bool
}

// ParseSmarthost parses smtp://user:pass@host:port or smtps://… (default ports 587 and 465); ?verify=off
// accepts any certificate. Errors never contain the password.
func ParseSmarthost(setting string) (*Smarthost, error) {
	u, err := url.Parse(setting)
	if err != nil {
		return nil, errors.New("smarthost: not a URL such as smtp://user:pass@host:587")
	}
	s := &Smarthost{Host: u.Hostname(), Port: 587}
	switch u.Scheme {
	case "smtp":
	case "smtps":
		s.Implicit, s.Port = true, 465
	default:
		return nil, fmt.Errorf("smarthost: scheme %q must be smtp or smtps", u.Scheme)
	}
	if s.Host == "" || u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return nil, errors.New("smarthost: must be smtp://user:pass@host:port without a path")
	}
	if u.Port() != "" {
		if s.Port, err = strconv.Atoi(u.Port()); err != nil || s.Port < 1 || s.Port > 65535 {
			return nil, fmt.Errorf("smarthost: %q is not a port number", u.Port())
		}
	}
	if u.User != nil {
		s.Username = u.User.Username()
		s.Password, _ = u.User.Password()
		if s.Username == "" || s.Password == "" {
			return nil, errors.New("smarthost: requires both user and password, or neither")
		}
	}
	switch query := u.Query(); {
	case u.RawQuery == "" || query.Get("verify") == "on":
	case query.Get("verify") == "off":
		s.Unverified = true
	default:
		return nil, errors.New("smarthost: the only parameter is verify=on or verify=off")
	}
	return s, nil
}

// String returns the URL without the password, also for %v.
func (s Smarthost) String() string {
	scheme := "smtp"
	if s.Implicit {
		scheme = "smtps"
	}
	return scheme + "://" + net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
}

// GoString returns the same as String, for %#v.
func (s Smarthost) GoString() string { return s.String() }

func (s Smarthost) isLocal() bool {
	if strings.EqualFold(s.Host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(s.Host)
	return err == nil && addr.IsLoopback()
}

// chooseMechanism selects a mechanism. Credentials are sent over TLS only, except to this machine.
func (s Smarthost) chooseMechanism(mechanisms []string, state *tls.ConnectionState) (sasl.Client, error) {
	if state == nil && !s.isLocal() {
		return nil, errors.New("the connection is not encrypted")
	}
	for _, m := range []struct {
		name string
		make func(username, password string) sasl.Client
	}{
		{"PLAIN", sasl.NewClientPlain},
		{"LOGIN", sasl.NewClientLogin},
		{"SCRAM-SHA-256", func(u, p string) sasl.Client { return sasl.NewClientSCRAMSHA256(u, p, true) }},
		{"CRAM-MD5", sasl.NewClientCRAMMD5},
	} {
		if slices.Contains(mechanisms, m.name) {
			return m.make(s.Username, s.Password), nil
		}
	}
	return nil, nil
}
