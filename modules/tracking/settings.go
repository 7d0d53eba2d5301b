package tracking

import (
	"errors"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

const chapter = "Tracking"

// TLSAddr is host:port; empty: links stand under the base URL.
var TLSAddr = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_TRACKING_TLS_ADDR", Group: chapter, Form: setting.HostPort(), DefaultText: "nowhere",
	Help: "Where tracking hosts are served over TLS, with certificates from an ACME authority. Others reach it at port 443.",
	Check: func(v setting.Values, addr string) error {
		if addr != "" && addr == config.HTTPTLSAddr.Of(v) {
			return errors.New("is that of POSTRIDER_HTTP_TLS_ADDR, which serves tracking hosts too: leave it out")
		}
		return nil
	},
})

// ACMEEmail is where the certificate authority writes to.
var ACMEEmail = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_ACME_EMAIL", Group: chapter, Form: setting.Text("ADDRESS"),
	Help: "Where the certificate authority may write to. POSTRIDER_TRACKING_TLS_ADDR needs it, and POSTRIDER_HTTP_TLS_ADDR without files.",
	Check: func(v setting.Values, email string) error {
		if TLSAddr.Given(v) && !strings.Contains(email, "@") {
			return errors.New("is required with POSTRIDER_TRACKING_TLS_ADDR: the address where the certificate authority may write to")
		}
		if config.HTTPTLSAddr.Given(v) && !config.HTTPTLSCert.Given(v) && !strings.Contains(email, "@") {
			return errors.New("is required with POSTRIDER_HTTP_TLS_ADDR, or POSTRIDER_HTTP_TLS_CERT is: the address where the certificate authority may write to")
		}
		return nil
	},
})

// ACMECA is the URL of the certificate authority's directory.
var ACMECA = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_ACME_CA", Group: chapter, Default: "https://acme-v02.api.letsencrypt.org/directory", DefaultText: "Let's Encrypt",
	Help: "Directory URL of the certificate authority.",
	Form: setting.Form[string]{Placeholder: "URL", Parse: func(text string) (string, error) {
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" || u.Hostname() == "" {
			return "", errors.New("is no https:// URL of an ACME directory")
		}
		return text, nil
	}},
})
