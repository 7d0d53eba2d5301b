package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
)

// domainClaims is what the operations on claims need of domains.
type domainClaims interface {
	StartClaim(ctx context.Context, accountID, name string, keep func(context.Context, idempotency.Execer, domains.Claim) error) (domains.Claim, error)
	GetClaim(ctx context.Context, accountID, claimID string) (domains.Claim, error)
	ListClaims(ctx context.Context, accountID string, r page.Request) (page.Page[domains.Claim], error)
	VerifyClaim(ctx context.Context, accountID, claimID string) (domains.Claim, *ent.Domain, error)
}

type claimRecord struct {
	ID            string            `json:"id" example:"clm_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name          string            `json:"name" example:"example.com"`
	Status        string            `json:"status" enum:"pending,completed,expired"`
	Record        proofRecord       `json:"record" doc:"Publish it beside the records that are there: it proves that you control the domain."`
	Error         *string           `json:"error" doc:"What the look-up just made found wrong, in one sentence; otherwise null."`
	ExpiresAt     timestamp         `json:"expires_at"`
	CreatedAt     timestamp         `json:"created_at"`
	LastCheckedAt optionalTimestamp `json:"last_checked_at"`
	CompletedAt   optionalTimestamp `json:"completed_at"`
}

type proofRecord struct {
	Type  string `json:"type" enum:"TXT"`
	Name  string `json:"name" doc:"In full, without a final dot."`
	Value string `json:"value" doc:"What to publish, without quotes."`
}

type claimAnswer struct {
	Claim claimRecord `json:"claim"`
}

type claimVerified struct {
	Claim  claimRecord   `json:"claim"`
	Domain *domainRecord `json:"domain" doc:"Your new domain with its records to publish, once the claim is completed; null before."`
}

type claimList struct {
	Claims     []claimRecord `json:"claims" nullable:"false"`
	HasMore    bool          `json:"has_more"`
	NextCursor *string       `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type claimID struct {
	ID string `path:"id" doc:"Id of the claim." example:"clm_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

func (e *domainEdge) claims(a *API) {
	pending := map[string]any{"claim": claimExample(false)}
	add(a, operation{
		method: http.MethodPost, path: "/domains/claims", id: "startDomainClaim", tag: tagDomains, needs: accounts.Write, idempotent: true,
		summary: "Claim a domain",
		description: "For a domain that another account has verified and that you control. Publish the TXT record of the answer, then verify the claim within 7 days. " +
			"Starting again while a claim for the name is open answers that one. 409 `conflict` when no other account has the domain verified: add it, then.",
		body: &requestBody{description: "The domain to claim.", schema: "ClaimDomain",
			examples: map[string]any{"domain": map[string]any{"name": "example.com"}}},
		answer: reflect.TypeFor[claimAnswer](), example: pending, problems: []int{http.StatusConflict},
	}, e.startClaim)
	a.describeBody("ClaimDomain", closed(map[string]*huma.Schema{
		"name": {Type: huma.TypeString, Description: "The domain name.", Examples: []any{"example.com"}},
	}, "name"))
	register(a, operation{
		method: http.MethodGet, path: "/domains/claims", id: "listDomainClaims", tag: tagDomains, needs: accounts.Read,
		summary: "List claims", description: "Newest first.",
		example: map[string]any{"claims": []any{claimExample(false)}, "has_more": false, "next_cursor": nil},
	}, e.listClaims)
	register(a, operation{
		method: http.MethodGet, path: "/domains/claims/{id}", id: "getDomainClaim", tag: tagDomains, needs: accounts.Read,
		summary: "Retrieve a claim", description: "It cannot be verified any more once it is `expired`.",
		example: pending, problems: []int{http.StatusNotFound},
	}, e.getClaim)
	register(a, operation{
		method: http.MethodPost, path: "/domains/claims/{id}/verify", id: "verifyDomainClaim", tag: tagDomains, needs: accounts.Write,
		summary: "Verify a claim",
		description: "Looks the TXT record up in DNS now. When it is there, the domain moves to your account, with new signing keys and status `pending`: publish its " +
			"records and verify it. The other account cannot send from it any more. When it is not, the claim stays `pending` and `error` says what to do.",
		example:  map[string]any{"claim": claimExample(true), "domain": domainExample()},
		problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.verifyClaim)
}

func newClaimRecord(c domains.Claim) claimRecord {
	out := claimRecord{ID: c.ID, Name: c.Name, Status: string(c.Status), Record: proofRecord{Type: c.Record.Type, Name: c.Record.Name, Value: c.Record.Value},
		ExpiresAt: timestamp(c.ExpiresAt), CreatedAt: timestamp(c.CreatedAt), LastCheckedAt: optionalTimestamp{c.LastCheckedAt}, CompletedAt: optionalTimestamp{c.CompletedAt}}
	if c.Record.Error != "" {
		out.Error = &c.Record.Error
	}
	return out
}

func (e *domainEdge) startClaim(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/domains/claims", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		name := ""
		d := newDecoder()
		d.object("", body, []field{{name: "name", decode: d.into(&name)}})
		if name == "" {
			d.refuse("name", "is required")
		}
		if err := d.wrong.Err(); err != nil {
			return idempotency.Answer{}, err
		}
		var answer idempotency.Answer
		_, err := e.domains.StartClaim(ctx, c.AccountID, name, func(ctx context.Context, tx idempotency.Execer, started domains.Claim) error {
			encoded, err := marshal(claimAnswer{Claim: newClaimRecord(started)})
			answer = idempotency.Answer{Status: http.StatusOK, Body: encoded}
			if err != nil || claim == nil {
				return err
			}
			return e.store.Keep(ctx, tx, claim, answer)
		})
		return answer, err
	})
}

func (e *domainEdge) listClaims(ctx context.Context, c *call, in *pageInput) (*claimList, error) {
	found, err := e.domains.ListClaims(ctx, c.AccountID, page.Request{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := claimList{Claims: []claimRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, claim := range found.Items {
		out.Claims = append(out.Claims, newClaimRecord(claim))
	}
	return &out, nil
}

func (e *domainEdge) getClaim(ctx context.Context, c *call, in *claimID) (*claimAnswer, error) {
	if !id.Is(id.Claim, in.ID) {
		return nil, fault.Missing("claim", shown(in.ID))
	}
	found, err := e.domains.GetClaim(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	return &claimAnswer{Claim: newClaimRecord(found)}, nil
}

// verifyClaim takes no key: asked again, a claim that is completed is answered
// with its domain, and one that is not is looked up anew, which is what a caller
// wants who asks again.
func (e *domainEdge) verifyClaim(ctx context.Context, c *call, in *claimID) (*claimVerified, error) {
	if !id.Is(id.Claim, in.ID) {
		return nil, fault.Missing("claim", shown(in.ID))
	}
	claim, d, err := e.domains.VerifyClaim(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	out := &claimVerified{Claim: newClaimRecord(claim)}
	if d != nil {
		record := e.record(d)
		out.Domain = &record
	}
	return out, nil
}
