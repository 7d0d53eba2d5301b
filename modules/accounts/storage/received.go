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

// The shares of an account's daily bytes that unknown senders can use.
const (
	receivedShare = 2 // all received mail: half
	networkShare  = 8 // mail from one network: an eighth
	maxNetworks   = 1024
)

// received counts today's received bytes of an account.
type received struct {
	mutex     sync.Mutex
	day       string
	total     int64 // bytes counted by all processes, as of the last borrowing
	pending   int64 // bytes counted by this process since then
	reporting int64 // being written to the counter
	networks  map[netip.Prefix]int64
}

// admit counts bytes of a network if they fit into its share and into that of all received mail.
func (r *received) admit(day string, network netip.Prefix, bytes, daily int64) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.startDay(day)
	if _, known := r.networks[network]; !known && len(r.networks) >= maxNetworks {
		network = netip.Prefix{} // further networks share one entry
	}
	if r.total+r.reporting+r.pending+bytes > daily/receivedShare || r.networks[network]+bytes > daily/networkShare {
		return false
	}
	r.pending += bytes
	r.networks[network] += bytes
	return true
}

// undo subtracts bytes that admit counted. It does nothing if admit did not count them, because the account
// has no daily quota, or if a new day has begun.
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

// isOf reports whether mail was received on a day.
func (r *received) isOf(day string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.day == day && len(r.networks) > 0
}

// startDay discards the counts of the previous day.
func (r *received) startDay(day string) {
	if r.day != day || r.networks == nil {
		r.day, r.total, r.pending, r.reporting, r.networks = day, 0, 0, 0, map[netip.Prefix]int64{}
	}
}

// dayBytes are bytes received on a day.
type dayBytes struct {
	day   string
	bytes int64
}

// take returns the bytes not yet added to the counter. Call set or putBack afterwards.
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

// set stores the value of the counter.
func (r *received) set(day string, total int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.startDay(day)
	r.total, r.reporting = total, 0
}

// ChargeReceived is Charge for a received message. The message must also fit into the shares of all received
// mail and of the network.
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
		return errReceivedShare(account.Plan.Name, quota)
	}
	if err := s.Charge(ctx, accountID, Received, bytes); err != nil {
		a.received.undo(network, bytes)
		return err
	}
	return nil
}

// RefundReceived reverts a charge of ChargeReceived.
func (s *Service) RefundReceived(ctx context.Context, accountID string, from netip.Addr, bytes int64) {
	s.Refund(ctx, accountID, bytes)
	s.allowanceOf(accountID).received.undo(networkOf(from), bytes)
}

func errReceivedShare(plan string, quota accounts.ByteQuota) error {
	refused := &fault.Error{Kind: fault.Limit, Code: fault.CodePlanLimit, UpgradeURL: accounts.UpgradeURL,
		Message: fmt.Sprintf("The plan %s allows %s of stored data per day, and the share for received mail is used up",
			plan,
			FormatBytes(int64(*quota.Daily)))}
	return refused.With("cap", capDaily).With("limit", *quota.Daily)
}

const dayLayout = "2006-01-02"

// networkOf returns the /24 of an address, or the /48 of IPv6.
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
