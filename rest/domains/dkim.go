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
func (e *edge) rotateDKIM(g *api.Group) {
	api.Once(g, api.Operation{
		Path: "/domains/{id}/dkim/rotate", ID: "rotateDomainDKIM", Needs: rights.Write,
		Summary: "Rotate the DKIM key",
		Description: "Makes a new signing key and lists its record beside the present one. Mail goes on being signed with the present key until the new " +
			"record was found and a sample signature verified with it, by `verify` or by the checks in the background; then the new key signs and the " +
			"earlier one retires, without a gap. The record of a retired key stays listed for 7 days, because mail signed with it may still be under " +
			"way: remove it after `keep_until`. A domain that signs with Ed25519 too gets a new key of both. While a key waits for its record, " +
			"another rotation is 409 `conflict` with its selector in `details`.",
		Example:  map[string]any{"domain": domainExample()},
		Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: Noun,
	}, e.rotate)
}

func (e *edge) rotate(ctx context.Context, c *api.Call, in *api.Item, keep api.Keep) (domainAnswer, error) {
	return api.As(e.answer)(e.service.RotateDKIM(ctx, c.AccountID, in.ID, api.Keeping(keep, e.answer)))
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
	CreatedAt   wire.Time         `json:"created_at"`
	ActivatedAt wire.OptionalTime `json:"activated_at"`
	RetiredAt   wire.OptionalTime `json:"retired_at"`
	KeepUntil   wire.OptionalTime `json:"keep_until" doc:"Of a retired key: its record may be removed after this, because mail signed with it may still be under way."`
}

func signingKey(d *ent.Domain) domainDKIM {
	key := signing.Current(d)
	return domainDKIM{Selector: key.Selector, Algorithm: key.Algorithm, Ready: key.Ready}
}

func keyList(d *ent.Domain) []domainKey {
	out := []domainKey{}
	for _, k := range signing.Keys(d) {
		out = append(out, domainKey{Selector: k.Selector, Algorithm: k.Algorithm, Status: k.State, Ready: k.Ready, CreatedAt: wire.Time(k.CreatedAt),
			ActivatedAt: wire.OptionalTime{At: k.ActivatedAt}, RetiredAt: wire.OptionalTime{At: k.RetiredAt}, KeepUntil: wire.OptionalTime{At: k.KeepUntil}})
	}
	return out
}
