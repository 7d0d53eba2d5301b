package domains

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/domains/publish"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// DNSService is the part of domains that the operations on DNS providers use.
type DNSService interface {
	Provider(ctx context.Context, accountID, domainID string) (publish.Provider, error)
	Apply(ctx context.Context, accountID, domainID string, in publish.ApplyInput) (publish.Result, error)
}

var _ DNSService = (*publish.Service)(nil)

type dnsProvider struct {
	Name        *string  `json:"name" doc:"Provider of the zone, recognized by its name servers; null if unknown."`
	Supported   bool     `json:"supported" doc:"Whether the records can be applied through this provider."`
	Zone        *string  `json:"zone" doc:"The zone that contains the domain; null if none was found."`
	NameServers []string `json:"nameservers" nullable:"false" doc:"Name servers of the zone."`
	Credentials []string `json:"credentials" nullable:"false" doc:"Names of the credentials required to apply the records; empty if the provider is not supported."`
}

type dnsProviderAnswer struct {
	Provider dnsProvider `json:"provider" doc:"The DNS provider of the domain."`
}

type dnsApplied struct {
	DryRun    bool        `json:"dry_run" doc:"Whether nothing was written."`
	Applied   []dnsChange `json:"applied" nullable:"false" doc:"Records that were written, or would be in a dry run."`
	Unchanged []dnsChange `json:"unchanged" nullable:"false" doc:"Records that already exist."`
	Conflicts []dnsChange `json:"conflicts" nullable:"false" doc:"Records that conflict with an existing record, which was not changed."`
}

type dnsChange struct {
	Purpose  string   `json:"purpose" enum:"ownership,dkim,return_path,spf,dmarc,inbound_mx,tls_reports,bimi,mta_sts_host,mta_sts" doc:"What the record is for."`
	Type     string   `json:"type" enum:"TXT,CNAME,MX" doc:"The type of the DNS record."`
	Name     string   `json:"name" doc:"Full name, without a final dot."`
	Value    string   `json:"value" doc:"Published value without quotes: the value of the record, or the existing SPF record with our term added."`
	Priority *int     `json:"priority,omitempty" doc:"Priority, for MX records only."`
	TTL      int      `json:"ttl" doc:"Time to live in seconds. If records with the same name exist, their TTL is used."`
	Before   []string `json:"before" nullable:"false" doc:"All values of this type at this name."`
	After    []string `json:"after" nullable:"false" doc:"All values after the change: read back from the provider, or as planned in a dry run."`
	Reason   *string  `json:"reason" doc:"What to do, in one sentence; null unless it is a conflict."`
}

type dnsEdge struct{ dns DNSService }

// DNSRoutes returns the routes that publish a domain's records.
func DNSRoutes(service DNSService) api.Routes {
	return api.NewRoutes("domains-dns", func(a *api.API) {
		e := &dnsEdge{dns: service}
		g := a.Tag(Tag, "")
		g.Bind(Noun, domainIDs{})
		api.Handle(g, api.Operation{
			Method: http.MethodGet, Path: "/domains/{id}/dns-provider", ID: "getDomainDNSProvider", Needs: rights.Read,
			Slow:    true,
			Summary: "Detect the DNS provider",
			Description: "Finds the zone that contains the domain, and recognizes its provider by the name " +
				"servers. Your own name servers are not recognized; " +
				"use `rfc2136` if they accept dynamic updates.",
			Example: map[string]any{"provider": map[string]any{"name": "cloudflare", "supported": true,
				"zone":        "example.com",
				"nameservers": []any{"kate.ns.cloudflare.com", "rob.ns.cloudflare.com"}, "credentials": []any{"api_token", "zone_token"}}},
			Problems: []int{http.StatusNotFound, http.StatusBadGateway}, Of: Noun,
		}, e.findProvider)
		api.HandleClaimed(g, api.Operation{
			Path: "/domains/{id}/dns-records/apply", ID: "applyDomainDNSRecords", Needs: rights.Write, Slow: true,
			Summary: "Publish the DNS records through the provider",
			Description: "Writes the records of the domain into its zone and reads them back. Existing records are never overwritten: a record that conflicts with one " +
				"is reported and not written. An existing SPF record gets our include before its `all` term, and an existing DMARC policy does not change. With `dmarc_record`, " +
				"only this record is written, and it replaces the existing DMARC record. With `dry_run`, " +
				"nothing is written, and the response contains the planned changes. Repeating the request changes nothing.\n\nThe credentials are used for this request " +
				"only, and are neither stored nor logged. If the provider refuses a change, the request fails with 502 `delivery_upstream_error` and its reason; " +
				"`details.applied` lists the purposes of the records that were already written.\n\n" + credentialsDoc(),
			Body: &api.Body{Limit: 64 << 10, About: "The provider and its credentials.", Examples: map[string]any{
				"dry run": map[string]any{"provider": "cloudflare", "credentials": map[string]any{"api_token": "your-token"}, "dry_run": true},
				"DMARC policy": map[string]any{"provider": "cloudflare", "credentials": map[string]any{"api_token": "your-token"}, "dry_run": true,
					"dmarc_record": "v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com"},
				"own server": map[string]any{"provider": "rfc2136", "credentials": map[string]any{"server": "ns1.example.com", "key_name": "postrider",
					"key": "c2VjcmV0", "key_algorithm": "hmac-sha256"}},
			}},
			Example:  appliedExample(),
			Problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway}, Answer: dnsApplied{},
			Of: Noun,
		}, applyBody, e.applyRecords)
	})
}

// credentialsDoc lists the credentials of each provider.
func credentialsDoc() string {
	var doc strings.Builder
	doc.WriteString("| provider | credentials |\n|---|---|")
	for _, name := range publish.Providers() {
		var fields []string
		for _, c := range publish.CredentialsOf(name) {
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

func applyBody(in *publish.ApplyInput) body.Object {
	in.Credentials = publish.ProviderCredentials{}
	return body.Object{Name: "ApplyDNSRecords", Fields: []body.Field{
		{Name: "provider", Type: body.Choice(&in.Provider, publish.Providers()...), Need: body.RequiredByService,
			About: "The DNS provider of the domain."},
		{Name: "credentials", Type: credentials{in.Credentials}, Need: body.RequiredByService,
			About: "Credentials by name, as listed in the table above. Used for this request only."},
		{Name: "dry_run", Type: body.Boolean(&in.DryRun), Default: false, About: "Whether to only return the planned changes, without writing them."},
		{Name: "dmarc_record", Type: body.Text(&in.DMARC), About: "A DMARC record that replaces the existing one, such as `advice.record` of the domain's deliverability. No other record is written."},
	}, Check: func(d *body.Decoder) { d.AddErrors(in.Validate()) }}
}

// credentials reads an object of strings.
type credentials struct{ to publish.ProviderCredentials }

func (t credentials) Read(d *body.Decoder, path string, v body.Value) {
	if !d.Expect(path, v, body.KindObject) {
		return
	}
	for name, member := range d.Members(path, v) {
		if text, ok := d.Text(body.Join(path, body.PrintableName(name)), member); ok {
			t.to.Set(name, text)
		}
	}
}

func (credentials) Schema(body.Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}
}

func appliedExample() map[string]any {
	change := func(purpose, name, value string, before, after []any) map[string]any {
		return map[string]any{"purpose": purpose, "type": "TXT", "name": name, "value": value, "ttl": 3600,
			"before": before, "after": after, "reason": nil}
	}
	const merged = "v=spf1 include:_spf.example.net include:spf.mail.example.org -all"
	alias := change("return_path", "rp.example.com", "rp.mail.example.org", []any{"old.example.net"},
		[]any{"old.example.net"})
	alias["type"], alias["reason"] = "CNAME",
		"rp.example.com is an alias of old.example.net; change that CNAME record to rp.mail.example.org, or remove it."
	return map[string]any{"dry_run": false,
		"applied":   []any{change("spf", "example.com", merged, []any{"v=spf1 include:_spf.example.net -all"}, []any{merged})},
		"unchanged": []any{change("dmarc", "_dmarc.example.com", "v=DMARC1; p=none;", []any{"v=DMARC1; p=reject"}, []any{"v=DMARC1; p=reject"})},
		"conflicts": []any{alias}}
}

func (e *dnsEdge) findProvider(ctx context.Context, c *api.Call, in *api.Item) (answer dnsProviderAnswer, err error) {
	found, err := e.dns.Provider(ctx, c.AccountID, in.ID)
	if err != nil {
		return answer, err
	}
	return dnsProviderAnswer{dnsProvider{Name: wire.OrNull(found.Name), Supported: found.Supported,
		Zone:        wire.OrNull(found.Zone),
		NameServers: wire.List(found.NameServers), Credentials: wire.List(found.Credentials)}}, nil
}

// applyRecords stores its response under the key after it has changed the zone at the provider, outside of any
// transaction. A crash in between is harmless: a repeated request finds the records and reports them as unchanged.
// If the response were stored first, it could claim records that were never written because of a crash. Only a hash of
// the body is stored.
func (e *dnsEdge) applyRecords(ctx context.Context, c *api.Call, in *api.Item, input publish.ApplyInput,
	claim *idempotency.Claim) (idempotency.Response, error) {
	applied, err := e.dns.Apply(ctx, c.AccountID, in.ID, input)
	if err != nil {
		return idempotency.Response{}, err
	}
	return c.Record(ctx, claim, dnsApplied{DryRun: input.DryRun, Applied: dnsChanges(applied.Applied),
		Unchanged: dnsChanges(applied.Unchanged),
		Conflicts: dnsChanges(applied.Conflicts)})
}

func dnsChanges(list []publish.RecordChange) []dnsChange {
	out := make([]dnsChange, 0, len(list))
	for _, c := range list {
		out = append(out, dnsChange{Purpose: string(c.Purpose), Type: c.Type, Name: c.Name, Value: c.Write,
			Priority: c.Priority, TTL: c.TTL,
			Before: wire.List(c.Before), After: wire.List(c.After), Reason: wire.OrNull(c.Reason)})
	}
	return out
}
