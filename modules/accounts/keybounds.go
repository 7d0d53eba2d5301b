package accounts

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/runtime/base/fault"
)

// keyBounds are the limits of a key, and of the keys that it creates.
type keyBounds struct {
	domainIDs []string // empty means all
	networks  []string // empty means all
	expiresAt *time.Time
}

// boundsOf returns the limits of the key that makes a request. It has none if maker is nil.
func boundsOf(maker *ent.APIKey) keyBounds {
	if maker == nil {
		return keyBounds{}
	}
	return keyBounds{domainIDs: maker.DomainIds, networks: maker.AllowedIps, expiresAt: maker.ExpiresAt}
}

// checkNetworks returns errors for networks, in canonical form, that the key itself cannot be used from.
func (b keyBounds) checkNetworks(networks []string) fault.Fields {
	wrong := fault.Fields{}
	if len(b.networks) == 0 {
		return wrong
	}
	if len(networks) == 0 {
		wrong.Add("allowed_ips", "is required, because the API key of this request is limited to some networks")
	}
	for i, network := range networks {
		if !slices.ContainsFunc(b.networks, func(outer string) bool { return isInside(network, outer) }) {
			wrong.Add(fmt.Sprintf("allowed_ips[%d]", i), "must be within the networks of the API key of this request")
		}
	}
	return wrong
}

func isInside(network, outer string) bool {
	inner, err := netip.ParsePrefix(network)
	whole, err2 := netip.ParsePrefix(outer)
	return err == nil && err2 == nil && whole.Bits() <= inner.Bits() && whole.Contains(inner.Addr())
}

// A key cannot create a key with wider limits or a later expiry than its own. owned are those requested
// domains that belong to the account.
func (b keyBounds) checkKey(in NewKey, owned []string) fault.Fields {
	wrong := b.checkNetworks(in.AllowedIPs)
	for i, domainID := range in.DomainIDs {
		switch {
		case !slices.Contains(owned, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i), "must be a domain of this account")
		case len(b.domainIDs) > 0 && !slices.Contains(b.domainIDs, domainID):
			wrong.Add(fmt.Sprintf("domain_ids[%d]", i),
				"must be a domain that the API key of this request may send from")
		}
	}
	if len(b.domainIDs) > 0 && len(in.DomainIDs) == 0 {
		wrong.Add("domain_ids", "is required, because the API key of this request is limited to some domains")
	}
	if b.expiresAt != nil && (in.ExpiresAt == nil || in.ExpiresAt.After(*b.expiresAt)) {
		wrong.Add("expires_at", "cannot be later than %s, when the API key of this request expires", b.expiresAt.UTC().
			Format(time.RFC3339))
	}
	return wrong
}

// checkBounds checks the new key against the limits of the key that creates it and the account's domains, and
// returns the creating key, if any.
func (in NewKey) checkBounds(ctx context.Context, tx *ent.Tx) (*ent.APIKey, error) {
	maker, owned, err := credentials.FindBounds(ctx, tx, in.AccountID, in.MakerKeyID, in.DomainIDs)
	if err != nil {
		return nil, err
	}
	return maker, boundsOf(maker).checkKey(in, owned).Err()
}
