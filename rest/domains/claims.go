package domains

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// claims is the part of domains that the operations on claims use.
type claims interface {
	StartClaim(ctx context.Context, accountID, name string,
		keep func(context.Context, idempotency.Execer, domains.Claim) error) (domains.Claim, error)
	GetClaim(ctx context.Context, accountID, claimID string) (domains.Claim, error)
	ListClaims(ctx context.Context, accountID string, r page.Request) (page.Page[domains.Claim], error)
	VerifyClaim(ctx context.Context, accountID, claimID string) (domains.Claim, *ent.Domain, error)
}

type claimRecord struct {
	ID            string            `json:"id" doc:"The ID of the claim." example:"clm_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name          string            `json:"name" doc:"The name of the domain." example:"example.com"`
	Status        string            `json:"status" enum:"pending,completed,expired" doc:"The status of the claim."`
	Record        proofRecord       `json:"record" doc:"The record to publish in addition to the existing ones. It proves that you control the domain."`
	Error         *string           `json:"error" doc:"The problem that the latest lookup found, in one sentence; null if there is none."`
	ExpiresAt     wire.Time         `json:"expires_at" doc:"When the claim expires unless it is completed."`
	CreatedAt     wire.Time         `json:"created_at" doc:"When the claim was started."`
	LastCheckedAt wire.OptionalTime `json:"last_checked_at" doc:"When the DNS record was last checked. null if it never was."`
	CompletedAt   wire.OptionalTime `json:"completed_at" doc:"When the claim was completed. null if it is still open or expired."`
}

type proofRecord struct {
	Type  string `json:"type" enum:"TXT" doc:"The type of the DNS record."`
	Name  string `json:"name" doc:"The full name, without a trailing dot."`
	Value string `json:"value" doc:"The value to publish, without quotes."`
}

type claimAnswer struct {
	Claim claimRecord `json:"claim" doc:"The claim."`
}

type claimVerified struct {
	Claim  claimRecord                 `json:"claim" doc:"The claim after the check."`
	Domain wire.Optional[domainRecord] `json:"domain" doc:"Your new domain with its records to publish; null if the claim is not completed."`
}

var claim = api.Noun{Name: "claim", About: "ID of the claim.", Example: "clm_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Claim, word) }}

func (e *edge) addClaims(g *api.TagGroup) {
	pending := map[string]any{"claim": claimExample(false)}
	api.OnceBody(g, api.Operation{
		Path: "/domains/claims", ID: "startDomainClaim", Needs: rights.Write, Slow: true,
		Summary: "Claim a domain",
		Description: "Starts a claim for a domain that you control and another account has verified. Publish the " +
			"TXT record in the response, then verify the claim within 7 days. If a claim for the name is open, it " +
			"is returned. Fails with 409 `conflict` if no other account has verified the domain: add it instead.",
		Body: &api.Body{About: "The domain to claim.",
			Examples: map[string]any{"domain": map[string]any{"name": "example.com"}}},
		Example: pending, Problems: []int{http.StatusConflict},
	}, claimBody, e.startClaim)
	api.List(g, api.Operation{
		Path: "/domains/claims", ID: "listDomainClaims", Needs: rights.Read,
		Summary: "List claims", Description: "Lists claims, newest first.",
		Example: claimExample(false),
	}, api.Plural{Member: "claims", Schema: "ClaimList"}, e.service.ListClaims, newClaimRecord)
	api.Get(g, api.Operation{
		Path: "/domains/claims/{id}", ID: "getDomainClaim", Needs: rights.Read,
		Summary: "Retrieve a claim", Description: "Returns a claim. An `expired` claim can no longer be verified.",
		Example: pending, Of: claim,
	}, e.service.GetClaim, newClaimAnswer)
	api.Handle(g, api.Operation{
		Method: http.MethodPost, Path: "/domains/claims/{id}/verify", ID: "verifyDomainClaim", Needs: rights.Write,
		Slow: true, Stores: api.StoresNothing,
		Summary: "Verify a claim",
		Description: "Looks up the TXT record of a claim immediately. If it is found, the domain moves to your " +
			"account with new signing keys and the status `pending`: publish its records and verify it. The other " +
			"account can then no longer send from it. Otherwise the claim remains `pending`, and `error` explains " +
			"what to do.",
		Example:  map[string]any{"claim": claimExample(true), "domain": domainExample()},
		Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: claim,
	}, e.verifyClaim)
}

func claimBody(name *string) body.Object {
	return body.Object{Name: "ClaimDomain", Fields: []body.Field{
		{Name: "name", Type: body.Text(name), Need: body.Required, About: "The domain name.", Example: "example.com"},
	}}
}

func newClaimRecord(c domains.Claim) claimRecord {
	out := claimRecord{ID: c.ID, Name: c.Name, Status: string(c.Status),
		Record:    proofRecord{Type: c.Record.Type, Name: c.Record.Name, Value: c.Record.Value},
		ExpiresAt: wire.Time(c.ExpiresAt), CreatedAt: wire.Time(c.CreatedAt),
		LastCheckedAt: wire.OptionalTime{At: c.LastCheckedAt}, CompletedAt: wire.OptionalTime{At: c.CompletedAt}}
	if c.Record.Error != "" {
		out.Error = &c.Record.Error
	}
	return out
}

func newClaimAnswer(c domains.Claim) claimAnswer { return claimAnswer{newClaimRecord(c)} }

func (e *edge) startClaim(ctx context.Context, c *api.Call, _ *api.None, name string,
	keep api.StoreResponse) (claimAnswer, error) {
	return api.As(newClaimAnswer)(e.service.StartClaim(ctx, c.AccountID, name, api.AdaptStore(keep, newClaimAnswer)))
}

// verifyClaim needs no idempotency key: a repeated request returns the domain of a completed claim, and looks up the
// record of an open claim again, as the caller expects.
func (e *edge) verifyClaim(ctx context.Context, c *api.Call, in *api.Item) (out claimVerified, err error) {
	found, d, err := e.service.VerifyClaim(ctx, c.AccountID, in.ID)
	if err != nil {
		return out, err
	}
	out.Claim = newClaimRecord(found)
	if d != nil {
		record := e.toRecord(d)
		out.Domain = wire.FromPointer(&record)
	}
	return out, nil
}
