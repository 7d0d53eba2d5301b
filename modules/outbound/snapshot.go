package outbound

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/smarthost"
	entsource "github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// source is one stored source address.
type source struct {
	id, hostname string
	addr         netip.Addr
	pool         entsource.Pool
	accountID    string
	node         string // the process that delivers from it; empty means any that has it
	reach        reach
	among        int // number of processes that share it
	paused       bool
	warm         bool
	day          int   // day of the warm-up, from 1; 0 if it never warmed up
	limit, used  int64 // today's values, for sources that warm up
}

// outlet is one source, or a pair of sources in a pool that belong to one mail host.
type outlet struct {
	way     smtpclient.Way
	sources []source // without paused ones
	reach   reach    // reach of the nearest source
	among   int      // number of processes that share it
	// pending counts deliveries that were chosen but not counted yet.
	pending int64
}

// isWarm reports whether the outlet has no limit.
func (o *outlet) isWarm() bool {
	return !slices.ContainsFunc(o.sources, func(s source) bool { return !s.warm })
}

// remainingToday returns how many deliveries may still begin today. A delivery decides later which address of
// a pair it uses, so both addresses count it, and the smaller allowance applies.
func (o *outlet) remainingToday() int64 {
	left := int64(1 << 62)
	for _, s := range o.sources {
		if !s.warm {
			left = min(left, s.limit-s.used-o.pending)
		}
	}
	return left
}

// owner is the owner of smarthosts: an account, or one of its domains.
type owner struct{ accountID, domainID string }

// relays are the smarthosts of one owner, nil where not configured.
type relays struct{ always, fallback *smtpclient.Way }

// snapshot is the whole configuration at one point in time.
type snapshot struct {
	day       string // when the allowances were read
	among     int    // number of processes with the same public address, including this one
	sources   []source
	dedicated map[string]tiers // by account
	pool      tiers
	shared    tiers
	shares    bool // the pool for the plan pool has outlets
	byAddress map[netip.Addr]*outlet
	relays    map[owner]relays
	opened    map[string]opened // decrypted passwords by smarthost
}

// asksPlan reports whether routing depends on the plan of an account.
func (s *snapshot) asksPlan() bool { return len(s.dedicated) > 0 || s.shares }

// arrangeSources groups sources into outlets: two sources with the same pool, account and hostname form one
// outlet if their address families differ.
func (s *snapshot) arrangeSources() {
	s.dedicated, s.byAddress = map[string]tiers{}, map[netip.Addr]*outlet{}
	var all []*outlet
	for _, src := range s.sources {
		if src.paused {
			continue
		}
		fits := func(o *outlet) bool {
			other := o.sources[0]
			return len(o.sources) == 1 && other.hostname == src.hostname && other.pool == src.pool &&
				other.accountID == src.accountID && other.node == src.node &&
				other.addr.Is4() != src.addr.Is4()
		}
		at := slices.IndexFunc(all, fits)
		if at < 0 {
			all = append(all, &outlet{way: smtpclient.Way{Hostname: src.hostname}})
			at = len(all) - 1
		}
		o := all[at]
		o.sources = append(o.sources, src)
		s.byAddress[src.addr] = o
	}
	for _, o := range all {
		// IPv4 first: it names the way, whichever family is used.
		slices.SortFunc(o.sources, func(a, b source) int { return a.addr.Compare(b.addr) })
		o.way.Label, o.reach = o.sources[0].addr.String(), gone
		for _, src := range o.sources {
			o.reach, o.among = min(o.reach, src.reach), max(o.among, src.among)
		}
		for _, src := range o.sources {
			if o.reach != here || src.reach == here { // a local outlet only uses local sources
				o.way.LocalAddrs = append(o.way.LocalAddrs, src.addr)
			}
		}
	}
	s.pools(all)
}

// pools indexes outlets by pool and account.
func (s *snapshot) pools(all []*outlet) {
	dedicated, pool, shared := map[string][]*outlet{}, []*outlet(nil), []*outlet(nil)
	for _, o := range all {
		switch first := o.sources[0]; first.pool {
		case entsource.PoolDedicated:
			dedicated[first.accountID] = append(dedicated[first.accountID], o)
		case entsource.PoolPool:
			pool = append(pool, o)
		case entsource.PoolShared:
			shared = append(shared, o)
		}
	}
	for accountID, own := range dedicated {
		s.dedicated[accountID] = byReach(own)
	}
	s.pool, s.shared, s.shares = byReach(pool), byReach(shared), len(pool) > 0
}

// opened is a decrypted password, cached to avoid decrypting it every few seconds.
type opened struct {
	sealed   string
	password string
}

// read replaces the snapshot. Deliveries chosen during the read stay reserved in the allowance; earlier ones
// were counted or returned.
func (w *Ways) read(ctx context.Context) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	w.mutex.Lock()
	before := w.known
	pending := map[string]int64{}
	if before != nil {
		for _, o := range before.byAddress {
			pending[o.way.Label] = o.pending
		}
	}
	w.mutex.Unlock()

	next, err := w.reader.next(ctx, before)
	if err != nil {
		return err
	}

	w.mutex.Lock()
	defer w.mutex.Unlock()
	if before != nil {
		for addr, o := range next.byAddress {
			if was := before.byAddress[addr]; was != nil && was.way.Label == o.way.Label {
				o.pending = max(0, was.pending-pending[o.way.Label])
			}
		}
	}
	w.known = next
	if before != nil && next.hasGained(before) {
		select {
		case w.gained <- struct{}{}:
		default: // a wake-up is already pending
		}
	}
	return nil
}

// hasGained reports whether this process may now use a way that previously belonged to another process.
func (s *snapshot) hasGained(before *snapshot) bool {
	for addr, o := range s.byAddress {
		if was := before.byAddress[addr]; was != nil && was.reach != o.reach && o.reach != away {
			return true
		}
	}
	return false
}

// reader builds snapshots. It must not be used concurrently.
type reader struct {
	db        *db.DB
	box       *secret.Box
	log       *slog.Logger
	nodes     Nodes         // nil if this is the only process, so every way is local
	goneAfter time.Duration // how long a source waits for a process that has it

	had    map[string]time.Time // when a process last had each source, by source id
	isGone map[string]bool      // sources that no process has had for goneAfter, by source id
}

// next reads the current configuration. It reuses the passwords that before has already decrypted.
func (r *reader) next(ctx context.Context, before *snapshot) (*snapshot, error) {
	next := &snapshot{}
	if err := readSources(ctx, r.db, next); err != nil {
		return nil, err
	}
	if err := r.readSmarthosts(ctx, next, before); err != nil {
		return nil, err
	}
	r.locateSources(ctx, next)
	next.arrangeSources()
	return next, nil
}

const sourcesSQL = `
WITH today AS (SELECT (now() AT TIME ZONE 'UTC')::date AS day)
SELECT t.day::text, s.id, s.address, s.hostname, s.pool, coalesce(s.account_id, ''), coalesce(s.node, ''), s.paused_at IS NOT NULL, s.warmup_started_at IS NULL,
       coalesce(t.day - (s.warmup_started_at AT TIME ZONE 'UTC')::date, 0), coalesce(d.deliveries, 0)
  FROM today t LEFT JOIN sources s ON true LEFT JOIN source_days d ON d.source_id = s.id AND d.day = t.day::text
 WHERE s.id IS NOT NULL ORDER BY s.address`

func readSources(ctx context.Context, d *db.DB, into *snapshot) error {
	err := db.Each(ctx, d.SQL, func(row db.Row) (err error) {
		var src source
		var address string
		if err := row.Scan(&into.day, &src.id, &address, &src.hostname, &src.pool, &src.accountID, &src.node,
			&src.paused, &src.warm, &src.day, &src.used); err != nil {
			return err
		}
		if src.addr, err = netip.ParseAddr(address); err != nil {
			return fmt.Errorf("source %s: %w", src.id, err)
		}
		if !src.warm {
			src.limit, src.warm = allowanceOn(src.day)
			src.day++
		}
		into.sources = append(into.sources, src)
		return nil
	}, sourcesSQL)
	if err != nil {
		return fmt.Errorf("read sources: %w", err)
	}
	return nil
}

func (r *reader) readSmarthosts(ctx context.Context, into, before *snapshot) error {
	rows, err := r.db.Ent.Smarthost.Query().All(ctx)
	if err != nil {
		return fmt.Errorf("read smarthosts: %w", err)
	}
	into.relays, into.opened = map[owner]relays{}, map[string]opened{}
	for _, row := range rows {
		of := owner{accountID: row.AccountID}
		if row.DomainID != nil {
			of.domainID = *row.DomainID
		}
		has := into.relays[of]
		way := relayWay(&smtpclient.Smarthost{Host: row.Host, Port: row.Port, Implicit: row.ImplicitTLS,
			Unverified: !row.Verify,
			Username:   row.Username, Password: r.openPassword(ctx, row, into, before)})
		if row.Use == smarthost.UseFallback {
			has.fallback = way
		} else {
			has.always = way
		}
		into.relays[of] = has
	}
	return nil
}

// openPassword returns an empty string for a password that cannot be decrypted. The smarthost then rejects
// the credentials, which defers the mail: it must not use another route.
func (r *reader) openPassword(ctx context.Context, row *ent.Smarthost, into, before *snapshot) string {
	if !HasPassword(row) {
		return ""
	}
	sealed := string(*row.Password)
	if before != nil && before.opened[row.ID].sealed == sealed {
		into.opened[row.ID] = before.opened[row.ID]
		return before.opened[row.ID].password
	}
	password, err := r.box.Open(*row.Password, sealedFor(row.ID))
	if err != nil {
		r.log.ErrorContext(ctx, "smarthost password cannot be decrypted; its mail is deferred", "smarthost", row.ID,
			telemetry.KeyAccountID, row.AccountID, telemetry.KeyError, err)
	}
	into.opened[row.ID] = opened{sealed: sealed, password: string(password)}
	return string(password)
}

func sealedFor(smarthostID string) []byte { return []byte("smarthosts/" + smarthostID + "/password") }

func relayWay(h *smtpclient.Smarthost) *smtpclient.Way {
	return &smtpclient.Way{Label: lane.SmarthostWay(net.JoinHostPort(h.Host, strconv.Itoa(h.Port))), Smarthost: h}
}
