package domains

import (
	"context"
	"net/http"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Service is the part of domains that the domain operations use.
type Service interface {
	Add(ctx context.Context, accountID string, in domains.NewDomain) (*ent.Domain, error)
	ListFiltered(ctx context.Context, accountID string, f domains.Filter, r page.Request) (page.Page[*ent.Domain], error)
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
	Verify(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
	RotateDKIM(ctx context.Context, accountID, domainID string, keep domains.StoreDomainResponse) (*ent.Domain, error)
	Records(d *ent.Domain) []dnscheck.RecordCheck
	settings
	claims
}

var _ Service = (*domains.Service)(nil)

// Tag is the tag of the operations on domains.
const Tag = "Domains"

// Noun is the kind of resource that the {id} of a path below /domains identifies.
var Noun = api.Noun{Name: "domain", About: "ID of the domain.", Example: "dom_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Domain, word) }}

// domainRecord is a domain in a response.
type domainRecord struct {
	ID             string            `json:"id" doc:"The ID of the domain." example:"dom_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name           string            `json:"name" doc:"The name of the domain." example:"example.com"`
	Status         string            `json:"status" enum:"pending,verified,temporary_failure,failed" doc:"temporary_failure: the domain was verified and its records are now missing or wrong. It can still send for 72 hours."`
	Records        []dnsRecord       `json:"records" nullable:"false" doc:"The records to publish in DNS, and the result of the last check."`
	OpenTracking   bool              `json:"open_tracking" doc:"Whether opens are tracked."`
	ClickTracking  bool              `json:"click_tracking" doc:"Whether clicks are tracked."`
	TLSMode        string            `json:"tls_mode" enum:"opportunistic,enforced" doc:"Whether delivery requires TLS (enforced) or uses it if available (opportunistic)."`
	InboundEnabled bool              `json:"inbound_enabled" doc:"Whether the domain receives mail."`
	MTASTS         string            `json:"mta_sts" enum:"off,none,testing,enforce" doc:"Mode of the MTA-STS policy that this installation serves for the domain (RFC 8461); off if it serves none."`
	BIMILogo       *string           `json:"bimi_logo_url" doc:"URL of the logo in the proposed BIMI record; null if no record is proposed." example:"https://example.com/bimi/logo.svg"`
	BIMICert       *string           `json:"bimi_certificate_url" doc:"URL of the mark certificate in the proposed BIMI record; null if there is none."`
	DKIM           domainDKIM        `json:"dkim" doc:"The DKIM key that signs mail from the domain."`
	DKIMKeys       []domainKey       `json:"dkim_keys" nullable:"false" doc:"Every key that has a record, the active RSA key first."`
	LastCheckedAt  wire.OptionalTime `json:"last_checked_at" doc:"When the DNS records were last checked. null if they never were."`
	VerifiedAt     wire.OptionalTime `json:"verified_at" doc:"When the domain was verified. null if it is not."`
	CreatedAt      wire.Time         `json:"created_at" doc:"When the domain was added."`
	UpdatedAt      wire.Time         `json:"updated_at" doc:"When the domain was last changed."`
}

type dnsRecord struct {
	Purpose  string   `json:"purpose" enum:"ownership,dkim,return_path,spf,dmarc,inbound_mx,tls_reports,bimi,mta_sts_host,mta_sts" doc:"What the record is for."`
	Type     string   `json:"type" enum:"TXT,CNAME,MX" doc:"The type of the DNS record."`
	Name     string   `json:"name" doc:"The full name, without a trailing dot."`
	Value    string   `json:"value" doc:"The value to publish, without quotes."`
	Priority *int     `json:"priority,omitempty" doc:"Priority of an MX record; null for other types."`
	TTL      int      `json:"ttl" doc:"The recommended TTL in seconds."`
	Required bool     `json:"required" doc:"Whether verification requires this record."`
	Status   string   `json:"status" enum:"missing,mismatch,verified" doc:"The result of the last check."`
	Found    []string `json:"found" nullable:"false" doc:"The values that the last check found."`
	Error    *string  `json:"error" doc:"What to do, in one sentence; null if the record is verified."`
}

type domainAnswer struct {
	Domain domainRecord `json:"domain" doc:"The domain."`
}

type edge struct{ service Service }

// Routes returns the routes of the resource domains.
func Routes(service Service) api.Routes {
	return api.NewRoutes("domains", func(a *api.API) {
		e := &edge{service: service}
		g := a.Tag(Tag, "Domains that you send from, with the DNS records to publish and their status.")
		g.Bind(Noun, domainIDs{})
		e.addDomains(g)
		e.settings(g)
		e.addClaims(g)
		e.rotateDKIM(g)
	})
}

func (e *edge) addDomains(g *api.TagGroup) {
	api.OnceBody(g, api.Operation{
		Path: "/domains", ID: "addDomain", Needs: rights.Write, Slow: true,
		Summary: "Add a domain",
		Description: "Adds a domain: creates its signing key and returns the DNS records to publish. Verify the " +
			"domain afterwards. Adding it twice fails with 409 `conflict`. If another account has verified it, the " +
			"error is 409 `domain_claimed`, and `details.claim` contains the TXT record that proves control of the " +
			"domain and explains how to start a claim.",
		Body: &api.Body{About: "The domain to add.",
			Examples: map[string]any{"domain": map[string]any{"name": "example.com"}}},
		Example:  map[string]any{"domain": domainExample()},
		Problems: []int{http.StatusConflict},
	}, addBody, e.addDomain)
	api.ListBy(g, api.Operation{
		Path: "/domains", ID: "listDomains", Needs: rights.Read,
		Summary: "List domains", Description: "Lists domains, newest first.",
		Example: domainExample(),
	}, api.Plural{Member: "domains", Schema: "DomainList"}, e.listDomains, e.toRecord)
	api.Get(g, api.Operation{
		Path: "/domains/{id}", ID: "getDomain", Needs: rights.Read,
		Summary: "Retrieve a domain", Description: "Returns a domain with its DNS records, as of the last check.",
		Example: map[string]any{"domain": domainExample()}, Of: Noun,
	}, e.service.Get, e.toAnswer)
	api.Handle(g, api.Operation{
		Method: http.MethodPost, Path: "/domains/{id}/verify", ID: "verifyDomain", Needs: rights.Write, Slow: true,
		Stores:  api.StoresNothing,
		Summary: "Verify a domain",
		Description: "Looks up the DNS records of a domain immediately and returns the updated domain. Ownership, " +
			"DKIM, return path and SPF are required. An unverified domain is also checked automatically.",
		Example:  map[string]any{"domain": domainExample()},
		Problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway}, Of: Noun,
	}, e.verifyDomain)
}

func addBody(in *domains.NewDomain) body.Object {
	return body.Object{Name: "AddDomain", Fields: []body.Field{
		{Name: "name", Type: body.Text(&in.Name), Need: body.Required, About: "A domain name that you own. It " +
			"cannot be a public suffix.", Example: "example.com"},
		{Name: "inbound_enabled", Type: body.Boolean(&in.InboundEnabled), Default: false, About: "Whether the domain also receives mail."},
	}}
}

func (e *edge) toRecord(d *ent.Domain) domainRecord {
	out := domainRecord{
		ID: d.ID, Name: d.Name, Status: string(d.Status), Records: []dnsRecord{}, OpenTracking: d.OpenTracking,
		ClickTracking: d.ClickTracking,
		TLSMode:       string(d.TLSMode), InboundEnabled: d.InboundEnabled,
		MTASTS: string(d.MtaSts), BIMILogo: wire.OrNull(d.BimiLogoURL), BIMICert: wire.OrNull(d.BimiCertificateURL),
		DKIM:          signingKey(d),
		DKIMKeys:      keyList(d),
		LastCheckedAt: wire.OptionalTime{At: d.LastCheckedAt}, VerifiedAt: wire.OptionalTime{At: d.VerifiedAt},
		CreatedAt: wire.Time(d.CreatedAt), UpdatedAt: wire.Time(d.UpdatedAt),
	}
	for _, r := range e.service.Records(d) {
		shown := dnsRecord{Purpose: string(r.Purpose), Type: r.Type, Name: r.Name, Value: r.Value, Priority: r.Priority,
			TTL:      r.TTL,
			Required: r.Required, Status: string(r.Status), Found: wire.List(r.Found)}
		if r.Error != "" {
			shown.Error = &r.Error
		}
		out.Records = append(out.Records, shown)
	}
	return out
}

func (e *edge) toAnswer(d *ent.Domain) domainAnswer { return domainAnswer{e.toRecord(d)} }

func (e *edge) addDomain(ctx context.Context, c *api.Call, _ *api.None, in domains.NewDomain,
	keep api.StoreResponse) (domainAnswer, error) {
	in.Keep = api.AdaptStore(keep, e.toAnswer)
	return api.As(e.toAnswer)(e.service.Add(ctx, c.AccountID, in))
}

func (e *edge) listDomains(ctx context.Context, c *api.Call, in *api.Page) (page.Page[*ent.Domain], error) {
	return e.service.ListFiltered(ctx, c.AccountID, domains.Filter{IDs: c.DomainIDs}, in.Request())
}

func (e *edge) verifyDomain(ctx context.Context, c *api.Call, in *api.Item) (domainAnswer, error) {
	return api.As(e.toAnswer)(e.service.Verify(ctx, c.AccountID, in.ID))
}

// domainIDs reports the domain of a domain, which is the domain itself, to keys limited to some domains.
type domainIDs struct{}

func (domainIDs) IsWithin(_ context.Context, _, domainID string, of []string) (bool, error) {
	return slices.Contains(of, domainID), nil
}
