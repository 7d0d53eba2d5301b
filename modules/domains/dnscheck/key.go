package dnscheck

import (
	"cmp"
	"slices"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/dkimkey"
)

// KeepRetired is how long the record of a retired key must stay published: mail signed with the key may be
// queued for days before a receiver verifies it.
const KeepRetired = 7 * 24 * time.Hour

// InOrder sorts keys for display: RSA before Ed25519, and for each algorithm the active key, the pending one, and
// retired ones.
func InOrder(keys []*ent.DKIMKey) []*ent.DKIMKey {
	rank := map[dkimkey.State]int{dkimkey.StateActive: 0, dkimkey.StatePending: 1, dkimkey.StateRetired: 2}
	return slices.SortedFunc(slices.Values(keys), func(a, b *ent.DKIMKey) int {
		return cmp.Or(-cmp.Compare(a.Algorithm, b.Algorithm), cmp.Compare(rank[a.State], rank[b.State]),
			cmp.Compare(b.ID, a.ID))
	})
}

// signsRSA reports whether verification depends on the key's record.
func signsRSA(k *ent.DKIMKey) bool {
	return k.State == dkimkey.StateActive && k.Algorithm == dkimkey.AlgorithmRsaSha256
}

// Ready reports whether the last check of the domain found the record of the key.
func Ready(d *ent.Domain, k *ent.DKIMKey) bool {
	if d.Seeded {
		return true
	}
	for _, state := range d.Records {
		if state.Purpose == string(DKIM) && state.Selector == k.Selector {
			return state.Status == string(Verified)
		}
	}
	return false
}
