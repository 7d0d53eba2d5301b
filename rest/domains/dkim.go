package domains

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
)

// rotateDKIM adds the rotation.
func (e *edge) rotateDKIM(g *api.TagGroup) {
	api.Once(g, api.Operation{
		Path: "/domains/{id}/dkim/rotate", ID: "rotateDomainDKIM", Needs: rights.Write,
		Summary: "Rotate the DKIM key",
		Description: "Creates a new signing key and lists its record next to the current one. The current key signs " +
			"mail until `verify` or a background check finds the new record and verifies a sample signature with " +
			"it. Then the new key takes over and the old one retires, without a gap. The record of a retired key " +
			"remains listed for 7 days, because mail signed with it may still be in transit: remove it after " +
			"`keep_until`. A domain that also signs with Ed25519 gets a new key of both types. While a key waits " +
			"for its record, another rotation fails with 409 `conflict` and its selector in `details`.",
		Example:  map[string]any{"domain": domainExample()},
		Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: Noun,
	}, e.rotateKey)
}

func (e *edge) rotateKey(ctx context.Context, c *api.Call, in *api.Item, keep api.StoreResponse) (domainAnswer, error) {
	return api.As(e.toAnswer)(e.service.RotateDKIM(ctx, c.AccountID, in.ID, api.AdaptStore(keep, e.toAnswer)))
}

// domainDKIM is a summary of the active RSA key.
type domainDKIM struct {
	Selector  string `json:"selector" doc:"The selector of the key."`
	Algorithm string `json:"algorithm" enum:"rsa-sha256" doc:"The algorithm of the signature."`
	Ready     bool   `json:"ready" doc:"Whether a check verified our signatures with the published key."`
}

// domainKey is any key of a domain.
type domainKey struct {
	Selector    string            `json:"selector" doc:"The selector of the key."`
	Algorithm   string            `json:"algorithm" enum:"rsa-sha256,ed25519-sha256" doc:"The algorithm of the signature."`
	Status      string            `json:"status" enum:"pending,active,retired" doc:"pending: waiting for its record. active: signing. retired: no longer signing."`
	Ready       bool              `json:"ready" doc:"Whether a check verified our signatures with the published key."`
	CreatedAt   wire.Time         `json:"created_at" doc:"When the key was created."`
	ActivatedAt wire.OptionalTime `json:"activated_at" doc:"When the key started to sign. null if it never did."`
	RetiredAt   wire.OptionalTime `json:"retired_at" doc:"When the key stopped signing. null while it is still signing."`
	KeepUntil   wire.OptionalTime `json:"keep_until" doc:"For a retired key, when its record may be removed. Mail signed with it may be in transit until then."`
}

func signingKey(d *ent.Domain) domainDKIM {
	key := signing.ActiveKey(d)
	return domainDKIM{Selector: key.Selector, Algorithm: key.Algorithm, Ready: key.Ready}
}

func keyList(d *ent.Domain) []domainKey {
	out := []domainKey{}
	for _, k := range signing.Keys(d) {
		out = append(out, domainKey{Selector: k.Selector, Algorithm: k.Algorithm, Status: k.State, Ready: k.Ready,
			CreatedAt:   wire.Time(k.CreatedAt),
			ActivatedAt: wire.OptionalTime{At: k.ActivatedAt}, RetiredAt: wire.OptionalTime{At: k.RetiredAt},
			KeepUntil: wire.OptionalTime{At: k.KeepUntil}})
	}
	return out
}
