package tracking

import (
	"errors"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

const chapter = "Tracking"

// TLSAddr is host:port. If empty, links use the base URL.
var TLSAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_TRACKING_TLS_ADDR", Group: chapter, Form: setting.HostPort(), DefaultText: "nowhere",
	Help: "Listen address for tracking hosts over TLS, with certificates from an ACME authority. Clients must reach it at port 443.",
	Check: func(v setting.Values, addr string) error {
		if addr != "" && addr == config.HTTPTLSAddr.Get(v) {
			return errors.New("must differ from POSTRIDER_HTTP_TLS_ADDR, which also serves tracking hosts; remove it")
		}
		return nil
	},
})

// ACMEEmail is the contact address for the certificate authority.
var ACMEEmail = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_ACME_EMAIL", Group: chapter, Form: setting.Text("ADDRESS"),
	DefaultText: "postmaster@ the base URL's host",
	Help:        "Contact address for the certificate authority.",
	From: func(v setting.Values) string { // never empty in production: certmagic would ask at the terminal
		if host := config.BaseHost(v); host != "" && !setting.IsAddress(host) {
			return "postmaster@" + host
		}
		return ""
	},
	Check: func(v setting.Values, email string) error {
		if TLSAddr.IsSet(v) && !strings.Contains(email, "@") {
			return errors.New("is required with POSTRIDER_TRACKING_TLS_ADDR: the contact address for the certificate authority")
		}
		if config.HTTPTLSAddr.IsSet(v) && !config.HTTPTLSCert.IsSet(v) && !strings.Contains(email, "@") {
			return errors.New("or POSTRIDER_HTTP_TLS_CERT is required with POSTRIDER_HTTP_TLS_ADDR: the contact address for the certificate authority")
		}
		return nil
	},
})

// ACMECA is the directory URL of the certificate authority.
var ACMECA = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_ACME_CA", Group: chapter, Default: "https://acme-v02.api.letsencrypt.org/directory",
	DefaultText: "Let's Encrypt",
	Help:        "Directory URL of the certificate authority.",
	Form: setting.Syntax[string]{Placeholder: "URL", Parse: func(text string) (string, error) {
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" || u.Hostname() == "" {
			return "", errors.New("must be the https:// URL of an ACME directory")
		}
		return text, nil
	}},
})
