package storage

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
)

// The shares of an account's daily bytes that strangers can use.
const (
	receivedShare = 2 // received mail together: a half
	networkShare  = 8 // the mail of one network: an eighth
	maxNetworks   = 1024
)

// received counts what strangers have sent to an account today.
type received struct {
	mutex     sync.Mutex
	day       string
	total     int64 // of all processes, as of the last borrowing
	pending   int64 // of this process since then
	reporting int64 // is on its way to the counter
	networks  map[netip.Prefix]int64
}

// admit counts bytes of a network if its share and that of all strangers leave room for them.
func (r *received) admit(day string, network netip.Prefix, bytes, daily int64) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.begin(day)
	if _, known := r.networks[network]; !known && len(r.networks) >= maxNetworks {
		network = netip.Prefix{} // the networks that come late share one
	}
	if r.total+r.reporting+r.pending+bytes > daily/receivedShare || r.networks[network]+bytes > daily/networkShare {
		return false
	}
	r.pending += bytes
	r.networks[network] += bytes
	return true
}

// undo takes back what admit counted. It does nothing if admit did not count it: the account had no daily quota, or
// a new day has begun.
func (r *received) undo(network netip.Prefix, bytes int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, known := r.networks[network]; !known {
		network = netip.Prefix{}
	}
	if r.networks[network] < bytes {
		return
	}
	r.pending -= bytes
	r.networks[network] -= bytes
}

// isOf reports whether strangers have sent something on a day.
func (r *received) isOf(day string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.day == day && len(r.networks) > 0
}

// begin forgets the day before.
func (r *received) begin(day string) {
	if r.day != day || r.networks == nil {
		r.day, r.total, r.pending, r.reporting, r.networks = day, 0, 0, 0, map[netip.Prefix]int64{}
	}
}

// dayBytes are bytes that were received on a day.
type dayBytes struct {
	day   string
	bytes int64
}

// take returns what the counter does not know yet. It is followed by set or putBack.
func (r *received) take() dayBytes {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.reporting, r.pending = r.pending, 0
	return dayBytes{r.day, r.reporting}
}

func (r *received) putBack(taken dayBytes) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if taken.day == r.day {
		r.pending, r.reporting = r.pending+r.reporting, 0
	}
}

// set stores what the counter knows.
func (r *received) set(day string, total int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.begin(day)
	r.total, r.reporting = total, 0
}

// ChargeReceived is Charge for a message that a stranger has sent: it must also fit into the share of
// all strangers, and into that of the network.
func (s *Service) ChargeReceived(ctx context.Context, accountID string, from netip.Addr, bytes int64) error {
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return err
	}
	quota := account.ByteQuota()
	if account.System || quota.Daily == nil {
		return s.Charge(ctx, accountID, Received, bytes)
	}
	a, network := s.allowanceOf(accountID), networkOf(from)
	if !a.received.admit(clock.Now().UTC().Format(dayLayout), network, bytes, int64(*quota.Daily)) {
		s.refused.WithLabelValues(refusedShare).Inc()
		return receivedRefusal(account.Plan.Name, quota)
	}
	if err := s.Charge(ctx, accountID, Received, bytes); err != nil {
		a.received.undo(network, bytes)
		return err
	}
	return nil
}

// RefundReceived takes back a charge of ChargeReceived.
func (s *Service) RefundReceived(ctx context.Context, accountID string, from netip.Addr, bytes int64) {
	s.Refund(ctx, accountID, bytes)
	s.allowanceOf(accountID).received.undo(networkOf(from), bytes)
}

func receivedRefusal(plan string, quota accounts.ByteQuota) error {
	refused := &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, UpgradeURL: accounts.UpgradeURL,
		Message: fmt.Sprintf("The plan %s allows %s of stored data a day, and the share of received mail is used", plan,
			Shown(int64(*quota.Daily)))}
	return refused.With("cap", capDaily).With("limit", *quota.Daily)
}

const dayLayout = "2006-01-02"

// networkOf returns the /24, or the /48 of IPv6, that an address is in.
func networkOf(from netip.Addr) netip.Prefix {
	from = from.Unmap().WithZone("")
	bits := 24
	if from.Is6() {
		bits = 48
	}
	prefix, err := from.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
