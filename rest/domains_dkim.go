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
)

// rotateDKIM declares the rotation.
func (e *domainEdge) rotateDKIM(a *API) {
	add(a, operation{
		method: http.MethodPost, path: "/domains/{id}/dkim/rotate", id: "rotateDomainDKIM", tag: tagDomains, needs: accounts.Write, idempotent: true,
		summary: "Rotate the DKIM key",
		description: "Makes a new signing key and lists its record beside the present one. Mail goes on being signed with the present key until the new " +
			"record was found and a sample signature verified with it, by `verify` or by the checks in the background; then the new key signs and the " +
			"earlier one retires, without a gap. The record of a retired key stays listed for 7 days, because mail signed with it may still be under " +
			"way: remove it after `keep_until`. A domain that signs with Ed25519 too gets a new key of both. While a key waits for its record, " +
			"another rotation is 409 `conflict` with its selector in `details`.",
		answer: reflect.TypeFor[domainAnswer](), example: map[string]any{"domain": domainExample()},
		problems: []int{http.StatusNotFound, http.StatusConflict},
	}, e.rotate)
}

func (e *domainEdge) rotate(ctx context.Context, in *domainID) (*stored, error) {
	c := callOf(ctx)
	if len(c.body) == 0 {
		c.body = []byte("{}") // it takes none; the key needs something to be compared with
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/domains/"+in.ID+"/dkim/rotate", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		if !id.Is(id.Domain, in.ID) {
			return idempotency.Answer{}, fault.Missing("domain", shown(in.ID))
		}
		return e.kept(claim, func(keep domains.Keep) (*ent.Domain, error) {
			return e.domains.RotateDKIM(ctx, c.AccountID, in.ID, keep)
		})
	})
}

// domainDKIM is the RSA key that signs, in short.
type domainDKIM struct {
	Selector  string `json:"selector"`
	Algorithm string `json:"algorithm" enum:"rsa-sha256"`
	Ready     bool   `json:"ready" doc:"Whether the published key was seen to verify our signatures."`
}

// domainKey is any key of a domain.
type domainKey struct {
	Selector    string            `json:"selector"`
	Algorithm   string            `json:"algorithm" enum:"rsa-sha256,ed25519-sha256"`
	Status      string            `json:"status" enum:"pending,active,retired" doc:"pending: waits for its record; active: signs; retired: does not sign any more."`
	Ready       bool              `json:"ready" doc:"Whether the published key was seen to verify our signatures."`
	CreatedAt   timestamp         `json:"created_at"`
	ActivatedAt optionalTimestamp `json:"activated_at"`
	RetiredAt   optionalTimestamp `json:"retired_at"`
	KeepUntil   optionalTimestamp `json:"keep_until" doc:"Of a retired key: its record may be removed after this, because mail signed with it may still be under way."`
}

func signingKey(d *ent.Domain) domainDKIM {
	key := domains.SigningKey(d)
	return domainDKIM{Selector: key.Selector, Algorithm: key.Algorithm, Ready: key.Ready}
}

func keyList(d *ent.Domain) []domainKey {
	out := []domainKey{}
	for _, k := range domains.Keys(d) {
		out = append(out, domainKey{Selector: k.Selector, Algorithm: k.Algorithm, Status: k.State, Ready: k.Ready, CreatedAt: timestamp(k.CreatedAt),
			ActivatedAt: optionalTimestamp{k.ActivatedAt}, RetiredAt: optionalTimestamp{k.RetiredAt}, KeepUntil: optionalTimestamp{k.KeepUntil}})
	}
	return out
}
