package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
)

// DomainService is what the domain operations need of domains.
type DomainService interface {
	Add(ctx context.Context, accountID string, in domains.AddInput) (*ent.Domain, error)
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Domain], error)
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
	Verify(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
	RotateDKIM(ctx context.Context, accountID, domainID string, keep domains.Keep) (*ent.Domain, error)
	Records(d *ent.Domain) []domains.Record
	domainSettings
	domainClaims
}

var _ DomainService = (*domains.Service)(nil)

const tagDomains = "Domains"

// domainRecord is a domain as callers see it.
type domainRecord struct {
	ID             string            `json:"id" example:"dom_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name           string            `json:"name" example:"example.com"`
	Status         string            `json:"status" enum:"pending,verified,temporary_failure,failed" doc:"temporary_failure: was verified, records broke, still sends for 72 hours."`
	Records        []dnsRecord       `json:"records" nullable:"false" doc:"What to publish in DNS, and what the last check saw."`
	OpenTracking   bool              `json:"open_tracking"`
	ClickTracking  bool              `json:"click_tracking"`
	TLSMode        string            `json:"tls_mode" enum:"opportunistic,enforced"`
	InboundEnabled bool              `json:"inbound_enabled"`
	DKIM           domainDKIM        `json:"dkim"`
	DKIMKeys       []domainKey       `json:"dkim_keys" nullable:"false" doc:"Every key with a record: the RSA key that signs first."`
	LastCheckedAt  optionalTimestamp `json:"last_checked_at"`
	VerifiedAt     optionalTimestamp `json:"verified_at"`
	CreatedAt      timestamp         `json:"created_at"`
	UpdatedAt      timestamp         `json:"updated_at"`
}

type dnsRecord struct {
	Purpose  string   `json:"purpose" enum:"ownership,dkim,return_path,spf,dmarc,inbound_mx"`
	Type     string   `json:"type" enum:"TXT,CNAME,MX"`
	Name     string   `json:"name" doc:"In full, without a final dot."`
	Value    string   `json:"value" doc:"What to publish, without quotes."`
	Priority *int     `json:"priority,omitempty" doc:"MX records only."`
	TTL      int      `json:"ttl" doc:"Proposed, in seconds."`
	Required bool     `json:"required" doc:"Whether verification needs it."`
	Status   string   `json:"status" enum:"missing,mismatch,verified"`
	Found    []string `json:"found" nullable:"false" doc:"What the last check found there."`
	Error    *string  `json:"error" doc:"One sentence on what to do; null when verified."`
}

type domainAnswer struct {
	Domain domainRecord `json:"domain"`
}

type domainList struct {
	Domains    []domainRecord `json:"domains" nullable:"false"`
	HasMore    bool           `json:"has_more"`
	NextCursor *string        `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type domainID struct {
	ID string `path:"id" doc:"Id of the domain." example:"dom_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type domainEdge struct {
	api     *API
	domains DomainService
	store   Idempotency
}

// Domains makes the routes of the resource domains.
func Domains(service DomainService, store Idempotency) Routes {
	return Routes{name: "domains", add: func(a *API) {
		e := &domainEdge{api: a, domains: service, store: store}
		a.describeTag(tagDomains, "Domains that you send from: the DNS records to publish, and whether they were found.")
		add(a, operation{
			method: http.MethodPost, path: "/domains", id: "addDomain", tag: tagDomains, needs: accounts.Write, idempotent: true,
			summary: "Add a domain",
			description: "Makes a signing key for the domain and answers the DNS records to publish. Then verify it. The same domain twice is 409 " +
				"`conflict`; one that another account has verified is 409 `domain_claimed`, and `details.claim` has the TXT record that proves control of " +
				"it and how to start a claim.",
			body: &requestBody{description: "The domain to add.", schema: "AddDomain",
				examples: map[string]any{"domain": map[string]any{"name": "example.com"}}},
			answer: reflect.TypeFor[domainAnswer](), example: map[string]any{"domain": domainExample()},
			problems: []int{http.StatusConflict},
		}, e.create)
		a.describeBody("AddDomain", addDomainSchema())
		register(a, operation{
			method: http.MethodGet, path: "/domains", id: "listDomains", tag: tagDomains, needs: accounts.Read,
			summary: "List domains", description: "Newest first.",
			example: map[string]any{"domains": []any{domainExample()}, "has_more": false, "next_cursor": nil},
		}, e.list)
		register(a, operation{
			method: http.MethodGet, path: "/domains/{id}", id: "getDomain", tag: tagDomains, needs: accounts.Read,
			summary: "Retrieve a domain", description: "With its DNS records as the last check saw them.",
			example: map[string]any{"domain": domainExample()}, problems: []int{http.StatusNotFound},
		}, e.get)
		register(a, operation{
			method: http.MethodPost, path: "/domains/{id}/verify", id: "verifyDomain", tag: tagDomains, needs: accounts.Write,
			summary: "Verify a domain",
			description: "Looks its records up in DNS now and answers the domain as it stands after that. Ownership, DKIM, return path and SPF are " +
				"required. A domain that is not verified yet is checked again by itself as well.",
			example: map[string]any{"domain": domainExample()}, problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
		}, e.verify)
		e.settings(a)
		e.claims(a)
		e.rotateDKIM(a)
	}}
}

func (e *domainEdge) record(d *ent.Domain) domainRecord {
	out := domainRecord{
		ID: d.ID, Name: d.Name, Status: string(d.Status), Records: []dnsRecord{}, OpenTracking: d.OpenTracking, ClickTracking: d.ClickTracking,
		TLSMode: string(d.TLSMode), InboundEnabled: d.InboundEnabled,
		DKIM:          signingKey(d),
		DKIMKeys:      keyList(d),
		LastCheckedAt: optionalTimestamp{d.LastCheckedAt}, VerifiedAt: optionalTimestamp{d.VerifiedAt},
		CreatedAt: timestamp(d.CreatedAt), UpdatedAt: timestamp(d.UpdatedAt),
	}
	for _, r := range e.domains.Records(d) {
		shown := dnsRecord{Purpose: string(r.Purpose), Type: r.Type, Name: r.Name, Value: r.Value, Priority: r.Priority, TTL: r.TTL,
			Required: r.Required, Status: string(r.Status), Found: listed(r.Found)}
		if r.Error != "" {
			shown.Error = &r.Error
		}
		out.Records = append(out.Records, shown)
	}
	return out
}

func (e *domainEdge) answer(d *ent.Domain, err error) (*domainAnswer, error) {
	if err != nil {
		return nil, err
	}
	return &domainAnswer{Domain: e.record(d)}, nil
}

// create keeps its answer under the key in the transaction that makes the domain.
func (e *domainEdge) create(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/domains", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		var in domains.AddInput
		d := newDecoder()
		d.object("", body, []field{
			{name: "name", decode: d.into(&in.Name)},
			{name: "inbound_enabled", decode: func(path string, v value) { in.InboundEnabled = d.boolean(path, v) }},
		})
		if in.Name == "" {
			d.refuse("name", "is required")
		}
		if err := d.wrong.Err(); err != nil {
			return idempotency.Answer{}, err
		}
		return e.kept(claim, func(keep domains.Keep) (*ent.Domain, error) {
			in.Keep = keep
			return e.domains.Add(ctx, c.AccountID, in)
		})
	})
}

// kept runs a change of a domain and answers with the domain. Under a key the
// answer is the one that is stored in the change's own transaction.
func (e *domainEdge) kept(claim *idempotency.Claim, change func(domains.Keep) (*ent.Domain, error)) (idempotency.Answer, error) {
	answer := func(d *ent.Domain) (idempotency.Answer, error) {
		encoded, err := marshal(domainAnswer{Domain: e.record(d)})
		return idempotency.Answer{Status: http.StatusOK, Body: encoded}, err
	}
	if claim == nil {
		d, err := change(nil)
		if err != nil {
			return idempotency.Answer{}, err
		}
		return answer(d)
	}
	var stored idempotency.Answer
	_, err := change(func(ctx context.Context, tx idempotency.Execer, d *ent.Domain) (err error) {
		if stored, err = answer(d); err != nil {
			return err
		}
		return e.store.Keep(ctx, tx, claim, stored)
	})
	return stored, err
}

func (e *domainEdge) list(ctx context.Context, c *call, in *pageInput) (*domainList, error) {
	found, err := e.domains.List(ctx, c.AccountID, page.Request{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := domainList{Domains: []domainRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, d := range found.Items {
		out.Domains = append(out.Domains, e.record(d))
	}
	return &out, nil
}

func (e *domainEdge) get(ctx context.Context, c *call, in *domainID) (*domainAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return e.answer(e.domains.Get(ctx, c.AccountID, in.ID))
}

func (e *domainEdge) verify(ctx context.Context, c *call, in *domainID) (*domainAnswer, error) {
	if !id.Is(id.Domain, in.ID) {
		return nil, fault.Missing("domain", shown(in.ID))
	}
	return e.answer(e.domains.Verify(ctx, c.AccountID, in.ID))
}
