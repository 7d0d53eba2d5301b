package dnsprovider

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/libdns/cloudflare"
	"github.com/libdns/gandi"
	"github.com/libdns/libdns"
	"github.com/libdns/ovh"
)

// Credential is a credential field of a provider.
type Credential struct {
	Name     string
	About    string // one line for humans
	Optional bool
	public   bool // may appear in errors
	check    func(value string) error
}

// backend is the part of a libdns provider that this package uses.
type backend interface {
	libdns.RecordGetter
	libdns.RecordAppender
	libdns.RecordDeleter
}

// given contains validated credentials, by name.
type given map[string]string

type provider struct {
	name        string
	credentials []Credential
	nameServers []string // suffixes of the host names of its name servers
	style       style
	open        func(ctx context.Context, s *Service, c given) (backend, error)
}

func tokenCredential(about string) []Credential {
	return []Credential{{Name: "api_token", About: about}}
}

// catalog lists the supported providers.
var catalog = []provider{
	{
		name: "cloudflare", nameServers: []string{"ns.cloudflare.com"}, style: style{quotedLong: true},
		credentials: []Credential{
			{Name: "api_token", About: "API token with Zone.DNS:Edit (and Zone:Read, unless zone_token is given) for the zone"},
			{Name: "zone_token", About: "API token with Zone:Read", Optional: true},
		},
		open: func(_ context.Context, s *Service, c given) (backend, error) {
			return &cloudflare.Provider{APIToken: c["api_token"], ZoneToken: c["zone_token"], HTTPClient: s.http}, nil
		},
	},
	{
		name: "digitalocean", nameServers: []string{"digitalocean.com"},
		credentials: tokenCredential("personal access token with the scopes domain:read, domain:create and domain:delete"),
		open:        openDigitalOcean,
	},
	{
		name: "gandi", nameServers: []string{"gandi.net"}, style: style{quoted: true, relativeTargets: true},
		credentials: []Credential{{Name: "bearer_token",
			About: "personal access token that may manage the domain's technical configuration"}},
		open: func(_ context.Context, _ *Service, c given) (backend, error) {
			return &gandi.Provider{BearerToken: c["bearer_token"]}, nil
		},
	},
	{
		name: "hetzner", nameServers: []string{"ns.hetzner.com", "ns.hetzner.de", "ns.hetzner.net"},
		style:       style{quoted: true, relativeTargets: true, ownTTL: true},
		credentials: tokenCredential("API token of the Hetzner Cloud project, with read and write access"),
		open:        openHetzner,
	},
	{
		name: "ovh", nameServers: []string{"ovh.net", "ovh.ca", "anycast.me", "ovhcloud.com"},
		style: style{relativeTargets: true, txtTypes: []string{"SPF", "DKIM", "DMARC"}},
		credentials: []Credential{
			{Name: "endpoint", About: "ovh-eu, ovh-ca or ovh-us", public: true, check: oneOf("ovh-eu", "ovh-ca", "ovh-us")},
			{Name: "application_key", About: "application key"},
			{Name: "application_secret", About: "application secret"},
			{Name: "consumer_key", About: "consumer key with GET, POST and DELETE on /domain/zone/*"},
		},
		open: func(_ context.Context, _ *Service, c given) (backend, error) {
			return &ovh.Provider{Endpoint: c["endpoint"], ApplicationKey: c["application_key"],
				ApplicationSecret: c["application_secret"],
				ConsumerKey:       c["consumer_key"]}, nil
		},
	},
	{
		name: "rfc2136",
		credentials: []Credential{
			{Name: "server", About: "host or address of the primary name server, with :port unless it is 53", public: true, check: checkServer},
			{Name: "key_name", About: "name of the TSIG key", public: true, check: checkKeyName},
			{Name: "key", About: "the TSIG key in base64", check: checkKey},
			{Name: "key_algorithm",
				About: "hmac-sha256 unless it is hmac-sha1, hmac-sha224, hmac-sha384 or hmac-sha512", Optional: true,
				public: true,
				check:  oneOf("hmac-sha256", "hmac-sha1", "hmac-sha224", "hmac-sha384", "hmac-sha512")},
		},
		open: openRFC2136,
	},
	{
		name: "route53",
		credentials: []Credential{
			{Name: "access_key_id", About: "access key with route53:ListHostedZonesByName, ListResourceRecordSets, ChangeResourceRecordSets and GetChange"},
			{Name: "secret_access_key", About: "its secret"},
			{Name: "session_token", About: "session token of temporary credentials", Optional: true},
			{Name: "hosted_zone_id", About: "id of the hosted zone, where several have the same name", Optional: true, public: true},
		},
		open: openRoute53,
	},
}

// recognised lists providers that are recognized by their name servers but not supported.
var recognised = map[string][]string{
	"godaddy": {"domaincontrol.com"}, "namecheap": {"registrar-servers.com"}, "porkbun": {"porkbun.com"}, "linode": {"linode.com"},
	"googleclouddns": {"googledomains.com"}, "azure": {"azure-dns.com", "azure-dns.net", "azure-dns.org", "azure-dns.info"},
	"vultr": {"vultr.com"}, "ionos": {"ui-dns.com", "ui-dns.org", "ui-dns.biz", "ui-dns.de"}, "squarespace": {"squarespacedns.com"},
	"wix": {"wixdns.net"}, "vercel": {"vercel-dns.com"}, "netlify": {"nsone.net"}, "dnsimple": {"dnsimple.com", "dnsimple-edge.net"},
	"hover": {"hover.com"}, "namecom": {"name.com"}, "bunny": {"bunny.net"}, "scaleway": {"scw.cloud"}, "inwx": {"inwx.de", "inwx.eu", "inwx.com"},
	"alidns": {"hichina.com", "alidns.com"}, "akamai": {"akam.net"}, "strato": {"rzone.de"}, "infomaniak": {"infomaniak.ch", "infomaniak.com"},
}

// Names lists the supported providers.
func Names() []string {
	names := make([]string, 0, len(catalog))
	for _, p := range catalog {
		names = append(names, p.name)
	}
	return names
}

// Credentials lists the credentials of a provider, or nil if it is not supported.
func Credentials(name string) []Credential {
	if p := findProvider(name); p != nil {
		return p.credentials
	}
	return nil
}

func findProvider(name string) *provider {
	for i := range catalog {
		if catalog[i].name == name {
			return &catalog[i]
		}
	}
	return nil
}

// runBy returns the provider that hosts a zone, or "" if it is unknown.
func runBy(nameServers []string) string {
	for _, host := range nameServers {
		host = canonicalName(host)
		// ns-2048.awsdns-64.com, and .net, .org and .co.uk with other numbers.
		if labels := strings.Split(host, "."); len(labels) > 2 && strings.HasPrefix(labels[1], "awsdns-") {
			return "route53"
		}
		for _, p := range catalog {
			if isUnder(host, p.nameServers) {
				return p.name
			}
		}
		for name, suffixes := range recognised {
			if isUnder(host, suffixes) {
				return name
			}
		}
	}
	return ""
}

func isUnder(host string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return true
		}
	}
	return false
}

func oneOf(allowed ...string) func(string) error {
	return func(value string) error {
		if slices.Contains(allowed, value) {
			return nil
		}
		return errors.New("must be one of " + strings.Join(allowed, ", "))
	}
}

func checkKey(value string) error {
	if key, err := base64.StdEncoding.DecodeString(value); err != nil || len(key) == 0 {
		return errors.New("must be a key in base64")
	}
	return nil
}

var _ cloudflare.HTTPClient = (*http.Client)(nil)
