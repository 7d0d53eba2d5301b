package config

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
)

const names = "Names"

// devDomain is the parent of the installation's names while it has no public
// host; `.test` never exists outside (RFC 6761 section 6.2).
const devDomain = "postrider.test"

// IsDevelopmentName tells whether a name is one that development mode makes up. Nobody
// publishes records for it, and none can be found.
func IsDevelopmentName(name string) bool { return strings.HasSuffix(name, "."+devDomain) }

// The names under which customers' DNS records and mail programs find this
// installation, in A-labels.
var (
	SandboxDomain = setting.Declare(under("sandbox", setting.Setting[string]{
		Name: "POSTRIDER_SANDBOX_DOMAIN", Help: "Sending domain that every account may try out.",
	}))
	ReturnPathHost = setting.Declare(under("rp", setting.Setting[string]{
		Name: "POSTRIDER_RETURN_PATH_HOST", Help: "Target of the return path CNAME.",
	}))
	SPFInclude = setting.Declare(under("spf", setting.Setting[string]{
		Name: "POSTRIDER_SPF_INCLUDE", Help: "Name that SPF records include.",
	}))
	SMTPHost = setting.Declare(under("smtp", setting.Setting[string]{
		Name: "POSTRIDER_SMTP_HOST", Help: "Name of the SMTP relay, to which MX records point too.",
	}))
)

// TrackingHost is the base URL's host, which answers links already. It is empty where
// production is reached by an address.
var TrackingHost = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_TRACKING_HOST", Group: names, Form: setting.Host(), DefaultText: "the base URL's host",
	Help: "Target of the CNAME records of tracking hosts.",
	From: func(v setting.Values) string {
		switch {
		case hasNames(BaseHost(v)):
			return BaseHost(v)
		case v.Mode != setting.Serve:
			return "links." + devDomain
		}
		return ""
	},
})

// LinkHosts are further names of the installation in links of mail that was sent.
var LinkHosts = setting.Declare(setting.Setting[[]string]{
	Name: "POSTRIDER_LINK_HOSTS", Group: names, Form: setting.Hosts(), DefaultText: "none",
	Help: "Further host names under which links in sent mail are answered, such as the base URL's host before it changed, separated by commas.",
})

// Hostname is the name that mail servers are greeted with.
var Hostname = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_HOSTNAME", Group: names, Form: setting.Host(), DefaultText: "the machine's",
	Help: "Name to greet mail servers with, in EHLO.",
	From: func(v setting.Values) string {
		if name, err := setting.ParseHost(v.Machine); err == nil {
			return name
		}
		if host := BaseHost(v); host != "" && !setting.IsAddress(host) {
			return host
		}
		return "localhost"
	},
})

// under completes the declaration of a name that lies under the base URL's host unless
// another one is given. Production without such a host needs one.
func under(label string, s setting.Setting[string]) setting.Setting[string] {
	s.Group, s.Form, s.DefaultText = names, setting.Host(), label+". under the base URL's host"
	s.From = func(v setting.Values) string {
		parent := BaseHost(v)
		switch {
		case hasNames(parent):
			return label + "." + parent
		case v.Mode != setting.Serve || parent == "": // without any base URL that is the mistake to report
			return label + "." + devDomain
		}
		return ""
	}
	s.Check = func(v setting.Values, name string) error {
		if name == "" {
			return fmt.Errorf("is required: the base URL's host %s has no names under it", BaseHost(v))
		}
		return nil
	}
	return s
}

// hasNames tells whether names can lie under a host.
func hasNames(host string) bool {
	return host != "" && !loopback(host) && !setting.IsAddress(host)
}
