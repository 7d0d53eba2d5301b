package doctor

import (
	"net/netip"
	"slices"
	"strings"
)

const addressUnknown = "<public address of this machine>"

// Records lists the DNS records that the operator of the installation must publish. Those of the accounts'
// sending domains are not included.
func (c Config) Records() []RequiredRecord {
	if c.baseHost() == "" {
		return nil
	}
	var all []RequiredRecord
	for _, host := range c.hosts() {
		for _, r := range c.addressRecords(host.name) {
			r.For = host.use
			all = append(all, r)
		}
	}
	all = append(all,
		RequiredRecord{"TXT", c.SPFInclude, c.spfRecord(),
			"SPF of all domains that send through this service: their records include it"},
		RequiredRecord{"TXT", c.ReturnPathHost, "v=spf1 include:" + c.SPFInclude + " -all",
			"SPF of envelope senders: rp.<domain> of each sending domain is an alias of it"})
	if c.Receives {
		all = append(all, RequiredRecord{"MX", c.ReturnPathHost, "10 " + c.SMTPHost, "bounces and complaints"})
	}
	if c.OwnTargets {
		all = append(all, c.wildcards()...)
	}
	if !c.Direct {
		return all
	}
	for _, a := range c.addresses() {
		all = append(all, RequiredRecord{"PTR", a.IP.String(), c.greets(a),
			"receivers reject addresses without a reverse name; the provider of the address sets it"})
	}
	return all
}

// wildcards are the records for the CNAME targets of individual domains.
func (c Config) wildcards() []RequiredRecord {
	all := []RequiredRecord{{"CNAME", "*." + c.ReturnPathHost, c.ReturnPathHost,
		"rp.<domain> of each sending domain is an alias of a name below it"}}
	if c.TrackingHost != "" {
		all = append(all, RequiredRecord{"CNAME", "*." + c.TrackingLabel + c.TrackingHost, c.TrackingHost,
			"tracking hosts are aliases of names below it"})
	}
	return all
}

// host is a host name of the installation that must have an address.
type host struct{ name, check, use string }

func (c Config) hosts() []host {
	all := []host{{c.baseHost(), "dns.base_url", "API, dashboard and links"}}
	add := func(h host) {
		_, err := netip.ParseAddr(h.name)
		if h.name != "" && err != nil && !slices.ContainsFunc(all, func(o host) bool { return o.name == h.name }) {
			all = append(all, h)
		}
	}
	if _, err := netip.ParseAddr(all[0].name); err == nil {
		all = all[:0]
	}
	add(host{c.SMTPHost, "dns.smtp_host", "incoming mail, and programs that send over SMTP"})
	add(host{c.TrackingHost, "dns.tracking_host", "tracking hosts are aliases of it"})
	if c.Direct {
		add(host{c.Hostname, "dns.hostname", "the EHLO name"})
	}
	return all
}

func (c Config) addressRecords(name string) []RequiredRecord {
	var all []RequiredRecord
	for _, a := range c.addresses() {
		kind := "A"
		if a.IP.Is6() {
			kind = "AAAA"
		}
		all = append(all, RequiredRecord{Type: kind, Name: name, Value: a.IP.String()})
	}
	if len(all) == 0 {
		all = append(all, RequiredRecord{Type: "A", Name: name, Value: addressUnknown})
	}
	return all
}

// spfRecord returns the SPF record that lists the addresses from which mail is sent.
func (c Config) spfRecord() string {
	terms := []string{"v=spf1"}
	switch addresses := c.addresses(); {
	case !c.Direct:
		terms = append(terms, "include:<the SPF name of the smarthost's operator>")
	case len(addresses) == 0:
		terms = append(terms, "ip4:"+addressUnknown)
	default:
		for _, a := range addresses {
			kind := "ip4:"
			if a.IP.Is6() {
				kind = "ip6:"
			}
			terms = append(terms, kind+a.IP.String())
		}
	}
	return strings.Join(append(terms, "-all"), " ")
}
