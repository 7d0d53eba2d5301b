package outbound

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// ViaFallback is the value of Via for a delivery that must use the fallback smarthost.
const ViaFallback = "fallback"

// Question describes a delivery that needs a route.
type Question struct {
	AccountID, DomainID string // DomainID is the sender's domain, if any.
	Destination         string // the recipient's domain
	Via                 string // ViaFallback, or empty
}

var errNotStarted = errors.New("outbound routes: not started")

// Choose returns the route of each delivery, index-aligned, and reserves the allowance of addresses that warm
// up. It does not query the database, except for plans that are not in the accounts' cache. Callers must not
// modify the returned ways, which are shared.
func (w *Ways) Choose(ctx context.Context, questions []Question) ([]smtpclient.Way, error) {
	ways := make([]smtpclient.Way, len(questions))
	for i, q := range questions {
		if id.IsTestTenant(q.AccountID) && w.config.testMail != nil {
			ways[i] = w.config.testMail.TestWay(q.AccountID)
		}
	}
	if w.config.Captured || len(questions) == 0 {
		return ways, nil
	}
	plans, err := w.loadPlans(ctx, questions)
	if err != nil {
		return nil, err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.known == nil {
		return nil, errNotStarted
	}
	for i, q := range questions {
		if id.IsTestTenant(q.AccountID) {
			continue
		}
		if relay := w.smarthostFor(q); relay != nil {
			ways[i] = *relay
			continue
		}
		if w.config.Relayed {
			continue
		}
		if o := w.known.outletFor(q, plans[q.AccountID]); o != nil {
			o.pending++
			ways[i] = o.way
		}
	}
	return ways, nil
}

// Return releases the allowance that Choose reserved for deliveries that do not begin now. Calling it is
// optional: the next read of the configuration has the same effect.
func (w *Ways) Return(labels []string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, label := range labels {
		if o := w.known.findOutlet(label); o != nil {
			o.pending = max(0, o.pending-1)
		}
	}
}

// HasFallback reports whether a delivery that failed directly may use a fallback smarthost.
func (w *Ways) HasFallback(accountID, domainID string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.config.Captured || w.known == nil || id.IsTestTenant(accountID) {
		return false
	}
	q := Question{AccountID: accountID, DomainID: domainID}
	if w.smarthostFor(q) != nil {
		return false // no mail is delivered directly
	}
	q.Via = ViaFallback
	return w.smarthostFor(q) != nil
}

// smarthostFor returns the smarthost for a delivery, or nil.
func (w *Ways) smarthostFor(q Question) *smtpclient.Way {
	ofDomain, ofAccount := relays{}, w.known.relays[owner{accountID: q.AccountID}]
	if q.DomainID != "" {
		ofDomain = w.known.relays[owner{q.AccountID, q.DomainID}]
	}
	for _, r := range []relays{ofDomain, ofAccount} {
		if r.always != nil {
			return r.always
		}
	}
	if q.Via != ViaFallback || w.config.Relayed {
		return nil
	}
	for _, r := range []relays{ofDomain, ofAccount} {
		if r.fallback != nil {
			return r.fallback
		}
	}
	if w.config.Fallback != nil {
		return relayWay(w.config.Fallback)
	}
	return nil
}

// loadPlans returns the plans of the accounts in the questions, if routing depends on plans. A deleted
// account has no plan.
func (w *Ways) loadPlans(ctx context.Context, questions []Question) (map[string]string, error) {
	w.mutex.Lock()
	asks := w.known != nil && w.known.asksPlan() && !w.config.Relayed
	w.mutex.Unlock()
	if !asks {
		return nil, nil
	}
	plans := map[string]string{}
	for _, q := range questions {
		if _, asked := plans[q.AccountID]; asked || id.IsTestTenant(q.AccountID) {
			continue
		}
		a, err := w.accounts.Account(ctx, q.AccountID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, fmt.Errorf("plan of %s: %w", q.AccountID, err)
		}
		plans[q.AccountID] = a.Plan.ID
	}
	return plans, nil
}

// outletFor tries the pools available to the plan, in overflow order.
func (s *snapshot) outletFor(q Question, plan string) *outlet {
	if plan == accounts.PlanDedicated {
		if o := nearestOutlets(s.dedicated[q.AccountID], gone, q); o != nil {
			return o
		}
	}
	if plan == accounts.PlanDedicated || plan == accounts.PlanPool {
		if o := nearestOutlets(s.pool, absent, q); o != nil {
			return o
		}
	}
	return nearestOutlets(s.shared, absent, q)
}

// nearestOutlets returns the nearest outlets of a pool, up to a maximum reach: first those of this process,
// then those of others.
func nearestOutlets(pool tiers, farthest reach, q Question) *outlet {
	for _, some := range pool[:farthest+1] {
		if o := pickOutlet(some, q.AccountID, q.Destination); o != nil {
			return o
		}
	}
	return nil
}

// pickOutlet chooses an outlet of a pool by weighted rendezvous hashing: an account and destination keep
// their outlet while it exists, whatever other outlets are added or removed. Addresses that warm up are
// weighted by their remaining allowance of the day, so that none runs out long before the others. A warm
// address has the weight of the largest remaining allowance, so that addresses that warm up receive mail
// even when volume is low.
func pickOutlet(pool []*outlet, accountID, destination string) *outlet {
	most := int64(1)
	warming := false
	for _, o := range pool {
		if !o.isWarm() {
			warming = true
			most = max(most, o.remainingToday())
		}
	}
	var best *outlet
	highest := -1.0
	for _, o := range pool {
		weight := most
		if warming && !o.isWarm() {
			weight = o.remainingToday()
		}
		if weight <= 0 {
			continue
		}
		if score := float64(weight) / -math.Log(hashFraction(accountID, destination, o.way.Label)); score > highest {
			best, highest = o, score
		}
	}
	return best
}

// hashFraction returns a number between 0 and 1 that is the same in every process.
func hashFraction(parts ...string) float64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	// FNV mixes the last bytes poorly; this is the finalizer of MurmurHash3.
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return (float64(x>>11) + 0.5) / (1 << 53)
}
