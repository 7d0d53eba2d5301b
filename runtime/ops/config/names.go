package config

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/base/setting"
)

const names = "Names"

// devDomain is the parent domain of the installation's names if it has no public host; `.test` never exists
// outside (RFC 6761 section 6.2).
const devDomain = "postrider.test"

// IsDevelopmentName reports whether development mode generated a name. No DNS records exist for such names.
func IsDevelopmentName(name string) bool { return strings.HasSuffix(name, "."+devDomain) }

// The names by which customers' DNS records and mail programs refer to this installation, in A-labels.
var (
	SandboxDomain = setting.Declare(prefixHost("sandbox", setting.Setting[string]{
		Name: "POSTRIDER_SANDBOX_DOMAIN", Help: "Sending domain that every account may use for tests.",
	}))
	ReturnPathHost = setting.Declare(prefixHost("rp", setting.Setting[string]{
		Name: "POSTRIDER_RETURN_PATH_HOST", Help: "Target of the return path CNAME.",
	}))
	SPFInclude = setting.Declare(prefixHost("spf", setting.Setting[string]{
		Name: "POSTRIDER_SPF_INCLUDE", Help: "Name for the include term in SPF records.",
	}))
	SMTPHost = setting.Declare(prefixHost("smtp", setting.Setting[string]{
		Name: "POSTRIDER_SMTP_HOST", Help: "Name of the SMTP relay; MX records point to it too.",
	}))
)

// TrackingHost defaults to the base URL's host, which already serves links. It is empty if the base URL of
// production has an IP address.
var TrackingHost = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_TRACKING_HOST", Group: names, Form: setting.Host(), DefaultText: "the base URL's host",
	Help: "Target of the CNAME records of tracking hosts and of hosts with MTA-STS policies.",
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

// TrackingLabel is the label between a domain's token and the tracking host. Without it, the wildcard record would
// answer for all names below the base URL's host.
const TrackingLabel = "t."

// OwnTargets is whether each domain is shown CNAME targets of its own.
var OwnTargets = setting.Declare(setting.Setting[bool]{
	Name: "POSTRIDER_OWN_TARGETS", Group: names, Form: setting.Switch(),
	Help: "Show each domain CNAME targets of its own, which requires the wildcard records in docs/dns.md.",
})

// LinkHosts are additional names of the installation in links of sent mail.
var LinkHosts = setting.Declare(setting.Setting[[]string]{
	Name: "POSTRIDER_LINK_HOSTS", Group: names, Form: setting.Hosts(), DefaultText: "none",
	Help: "Additional host names for links in sent mail, such as a previous host of the base URL, separated by commas.",
})

// Hostname is the name in EHLO.
var Hostname = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_HOSTNAME", Group: names, Form: setting.Host(),
	DefaultText: "the machine's, or the base URL's host if the machine's has no domain",
	Help:        "Host name in the EHLO greeting to mail servers.",
	From: func(v setting.Values) string {
		name, err := setting.ParseHost(v.Machine)
		if err == nil && strings.Contains(name, ".") {
			return name
		}
		// A container's name is not a DNS name.
		if host := BaseHost(v); hasNames(host) {
			return host
		}
		if err == nil {
			return name
		}
		return "localhost"
	},
})

// prefixHost completes the declaration of a name that defaults to a subdomain of the base URL's host. In
// production, a base URL without a host name makes the setting required.
func prefixHost(label string, s setting.Setting[string]) setting.Setting[string] {
	s.Group, s.Form, s.DefaultText = names, setting.Host(), label+". under the base URL's host"
	s.From = func(v setting.Values) string {
		parent := BaseHost(v)
		switch {
		case hasNames(parent):
			return label + "." + parent
		case v.Mode != setting.Serve || parent == "": // a missing base URL is reported separately
			return label + "." + devDomain
		}
		return ""
	}
	s.Check = func(v setting.Values, name string) error {
		if name == "" {
			return fmt.Errorf("is required: the base URL's host %s cannot have subdomains", BaseHost(v))
		}
		return nil
	}
	return s
}

// hasNames reports whether a host can have subdomains.
func hasNames(host string) bool {
	return host != "" && !isLoopback(host) && !setting.IsAddress(host)
}
