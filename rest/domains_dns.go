package rest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
)

// DNSService is what the operations on DNS providers need of domains.
type DNSService interface {
	Provider(ctx context.Context, accountID, domainID string) (domains.DNSProvider, error)
	Apply(ctx context.Context, accountID, domainID string, in domains.ApplyInput) (domains.Applied, error)
}

var _ DNSService = (*domains.Publisher)(nil)

type dnsProvider struct {
	Name        *string  `json:"name" doc:"Who runs the zone, recognised by its name servers; null when nobody is."`
	Supported   bool     `json:"supported" doc:"Whether the records can be applied through it."`
	Zone        *string  `json:"zone" doc:"The zone that the domain lies in; null when DNS has none."`
	NameServers []string `json:"nameservers" nullable:"false" doc:"Of the zone."`
	Credentials []string `json:"credentials" nullable:"false" doc:"Names of the credentials that applying the records takes; empty when not supported."`
}

type dnsProviderAnswer struct {
	Provider dnsProvider `json:"provider"`
}

type dnsApplied struct {
	DryRun    bool        `json:"dry_run" doc:"Whether nothing was written."`
	Applied   []dnsChange `json:"applied" nullable:"false" doc:"Records that were written, or would be."`
	Unchanged []dnsChange `json:"unchanged" nullable:"false" doc:"Records that are there already."`
	Conflicts []dnsChange `json:"conflicts" nullable:"false" doc:"Records that something else is in the way of; it was left alone."`
}

type dnsChange struct {
	Purpose  string   `json:"purpose" enum:"ownership,dkim,return_path,spf,dmarc,inbound_mx"`
	Type     string   `json:"type" enum:"TXT,CNAME,MX"`
	Name     string   `json:"name" doc:"In full, without a final dot."`
	Value    string   `json:"value" doc:"What is published, without quotes: the value of the record, or an SPF record that had other terms before."`
	Priority *int     `json:"priority,omitempty" doc:"MX records only."`
	TTL      int      `json:"ttl" doc:"In seconds; a record that joins others at its name takes theirs."`
	Before   []string `json:"before" nullable:"false" doc:"All values of the type at the name."`
	After    []string `json:"after" nullable:"false" doc:"The same afterwards: read back from the provider, or as planned in a dry run."`
	Reason   *string  `json:"reason" doc:"One sentence on what to do; null unless it is a conflict."`
}

type dnsEdge struct {
	api   *API
	dns   DNSService
	store IdempotencyRecorder
}

// DomainDNS makes the routes that publish a domain's records.
func DomainDNS(service DNSService, store IdempotencyRecorder) Routes {
	return Routes{name: "domains-dns", add: func(a *API) {
		e := &dnsEdge{api: a, dns: service, store: store}
		register(a, operation{
			method: http.MethodGet, path: "/domains/{id}/dns-provider", id: "getDomainDNSProvider", tag: tagDomains, needs: accounts.Read,
			summary: "Detect the DNS provider",
			description: "Finds the zone that the domain lies in and tells by its name servers who runs it. A server of your own is not recognised; use " +
				"`rfc2136` if it takes dynamic updates.",
			example: map[string]any{"provider": map[string]any{"name": "cloudflare", "supported": true, "zone": "example.com",
				"nameservers": []any{"kate.ns.cloudflare.com", "rob.ns.cloudflare.com"}, "credentials": []any{"api_token", "zone_token"}}},
			problems: []int{http.StatusNotFound, http.StatusBadGateway},
		}, e.provider)
		add(a, operation{
			method: http.MethodPost, path: "/domains/{id}/dns-records/apply", id: "applyDomainDNSRecords", tag: tagDomains, needs: accounts.Write, idempotent: true,
			summary: "Publish the DNS records through the provider",
			description: "Writes the records of the domain into its zone and reads them back. Nothing that is there is overwritten: what is in the way is a " +
				"conflict and stays. An SPF record gets our include before its `all` term; a DMARC policy is left as it is. With `dry_run` nothing is written and " +
				"the answer says what would be. Repeating it changes nothing.\n\nThe credentials are used for this request only, and neither stored nor logged. " +
				"What the provider refuses is 502 `delivery_upstream_error` with its reason; `details.applied` lists the purposes written before it.\n\n" + credentialsDoc(),
			body: &requestBody{description: "The provider and its credentials.", schema: "ApplyDNSRecords", limit: 64 << 10, examples: map[string]any{
				"dry run": map[string]any{"provider": "cloudflare", "credentials": map[string]any{"api_token": "your-token"}, "dry_run": true},
				"own server": map[string]any{"provider": "rfc2136", "credentials": map[string]any{"server": "ns1.example.com", "key_name": "postrider",
					"key": "c2VjcmV0", "key_algorithm": "hmac-sha256"}},
			}},
			answer: reflect.TypeFor[dnsApplied](), example: appliedExample(),
			problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
		}, e.apply)
		a.describeBody("ApplyDNSRecords", applySchema())
	}}
}

// credentialsDoc lists what each provider takes.
func credentialsDoc() string {
	var doc strings.Builder
	doc.WriteString("| provider | credentials |\n|---|---|")
	for _, name := range domains.DNSProviders() {
		var fields []string
		for _, c := range domains.DNSCredentials(name) {
			about := c.About
			if c.Optional {
				about += "; optional"
			}
			fields = append(fields, fmt.Sprintf("`%s` (%s)", c.Name, about))
		}
		fmt.Fprintf(&doc, "\n| `%s` | %s |", name, strings.Join(fields, ", "))
	}
	return doc.String()
}

func applySchema() *huma.Schema {
	var names []any
	for _, name := range domains.DNSProviders() {
		names = append(names, name)
	}
	return closed(map[string]*huma.Schema{
		"provider": {Type: huma.TypeString, Enum: names},
		"credentials": {Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString},
			Description: "By name, as the table above says. Used once."},
		"dry_run": {Type: huma.TypeBoolean, Nullable: true, Default: false, Description: "Whether to say only what would be done."},
	}, "provider", "credentials")
}

func appliedExample() map[string]any {
	change := func(purpose, name, value string, before, after []any) map[string]any {
		return map[string]any{"purpose": purpose, "type": "TXT", "name": name, "value": value, "ttl": 3600, "before": before, "after": after, "reason": nil}
	}
	const merged = "v=spf1 include:_spf.example.net include:spf.mail.example.org -all"
	alias := change("return_path", "rp.example.com", "rp.mail.example.org", []any{"old.example.net"}, []any{"old.example.net"})
	alias["type"], alias["reason"] = "CNAME", "rp.example.com is an alias of old.example.net; change that CNAME record to rp.mail.example.org, or remove it."
	return map[string]any{"dry_run": false,
		"applied":   []any{change("spf", "example.com", merged, []any{"v=spf1 include:_spf.example.net -all"}, []any{merged})},
		"unchanged": []any{change("dmarc", "_dmarc.example.com", "v=DMARC1; p=none;", []any{"v=DMARC1; p=reject"}, []any{"v=DMARC1; p=reject"})},
		"conflicts": []any{alias}}
}

func (e *dnsEdge) provider(ctx context.Context, c *call, in *domainID) (*dnsProviderAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	found, err := e.dns.Provider(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	out := dnsProvider{Supported: found.Supported, NameServers: listed(found.NameServers), Credentials: listed(found.Credentials)}
	if found.Name != "" {
		out.Name = &found.Name
	}
	if found.Zone != "" {
		out.Zone = &found.Zone
	}
	return &dnsProviderAnswer{Provider: out}, nil
}

// apply keeps its answer under the key after the work, which is done at the
// provider and shares no transaction with anything here. A crash between the two
// does no harm: asked again, it finds what it wrote and says that it is unchanged.
// A key that were taken before the work would say after a crash that what was
// never written had been. Of the body only a hash is stored.
func (e *dnsEdge) apply(ctx context.Context, in *domainID) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/domains/"+in.ID+"/dns-records/apply", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		if !id.Is(id.Domain, in.ID) {
			return idempotency.Answer{}, fault.Missing("domain", shown(in.ID))
		}
		input, err := decodeApply(body)
		if err != nil {
			return idempotency.Answer{}, err
		}
		applied, err := e.dns.Apply(ctx, c.AccountID, in.ID, input)
		if err != nil {
			return idempotency.Answer{}, err
		}
		encoded, err := marshal(dnsApplied{DryRun: input.DryRun, Applied: dnsChanges(applied.Applied), Unchanged: dnsChanges(applied.Unchanged),
			Conflicts: dnsChanges(applied.Conflicts)})
		if err != nil {
			return idempotency.Answer{}, err
		}
		answer := idempotency.Answer{Status: http.StatusOK, Body: encoded}
		if claim == nil {
			return answer, nil
		}
		return e.store.Record(ctx, claim, answer)
	})
}

func decodeApply(body value) (domains.ApplyInput, error) {
	in := domains.ApplyInput{Credentials: domains.Credentials{}}
	d := newDecoder()
	d.object("", body, []field{
		{name: "provider", decode: d.into(&in.Provider)},
		{name: "credentials", decode: func(path string, v value) {
			if !d.expect(path, v, kindObject) {
				return
			}
			for name, member := range d.members(path, v) {
				if text, ok := d.text(join(path, shown(name)), member); ok {
					in.Credentials.Set(name, text)
				}
			}
		}},
		{name: "dry_run", decode: func(path string, v value) { in.DryRun = d.boolean(path, v) }},
	})
	wrong := in.Validate()
	maps.Copy(wrong, d.wrong) // a decode error is the first reason of its field
	return in, wrong.Err()
}

func dnsChanges(list []domains.RecordChange) []dnsChange {
	out := make([]dnsChange, 0, len(list))
	for _, c := range list {
		shown := dnsChange{Purpose: string(c.Purpose), Type: c.Type, Name: c.Name, Value: c.Write, Priority: c.Priority, TTL: c.TTL,
			Before: listed(c.Before), After: listed(c.After)}
		if c.Reason != "" {
			shown.Reason = &c.Reason
		}
		out = append(out, shown)
	}
	return out
}
