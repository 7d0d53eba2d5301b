package linkrules

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Config configures the rules.
type Config struct {
	// OwnHosts are the host names of the installation, the base URL's first.
	OwnHosts []string
	// Refresh is the reload interval; zero: 5 s.
	Refresh time.Duration
}

// ConfigOf returns the configuration from the installation's settings.
func ConfigOf(v setting.Values) Config {
	return Config{OwnHosts: append([]string{config.BaseHost(v)}, config.LinkHosts.Get(v)...)}
}

// Params are the dependencies of New.
type Params struct {
	fx.In

	Config  Config
	DB      *db.DB
	Logger  *slog.Logger
	Workers *worker.Metrics `optional:"true"`
}

// Rules makes decisions about tracked links. It is safe for concurrent use.
type Rules struct {
	db      *db.DB
	refresh time.Duration
	own     map[string]bool
	current atomic.Pointer[state]
	former  *cache.Cache[holdingKey, bool]
	tasks   *worker.Tasks
}

// state is the last loaded state. It never changes.
type state struct {
	suspended map[string]bool   // account ids
	moving    map[string]string // the base URLs to which accounts have moved, "" during a move, keyed by account id
	hosts     map[string]string // account ids keyed by tracking host
	flags     flagSet
}

// holdingKey identifies a cached answer: whether a host is below a domain of an account.
type holdingKey struct{ accountID, host string }

const (
	defaultRefresh = 5 * time.Second
	maxFormer      = 10_000
	queryTimeout   = 3 * time.Second
)

// New returns rules that know only the installation's own hosts until Start.
func New(p Params) *Rules {
	r := &Rules{db: p.DB, refresh: p.Config.Refresh, own: map[string]bool{},
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	if r.refresh == 0 {
		r.refresh = defaultRefresh
	}
	for _, host := range p.Config.OwnHosts {
		r.own[strings.ToLower(host)] = true
	}
	r.current.Store(&state{})
	r.former = cache.New(cache.Config[holdingKey, bool]{Max: maxFormer, TTL: r.refresh, LoadTimeout: queryTimeout})
	return r
}

// Start loads the rules and reloads them periodically.
func (r *Rules) Start(ctx context.Context) error {
	if err := r.Reload(ctx); err != nil {
		return err
	}
	r.tasks.Start(worker.Every("rules of tracked links", r.refresh, r.Reload))
	return nil
}

// Stop stops the reloading. The last state remains in force.
func (r *Rules) Stop(ctx context.Context) error {
	r.tasks.Stop(ctx)
	return nil
}

// IsOwn reports whether a Host header names the installation itself rather than a customer.
func (r *Rules) IsOwn(host string) bool {
	name := clientip.HostName(host)
	_, notAddress := netip.ParseAddr(name)
	return r.own[name] || notAddress == nil || !strings.Contains(name, ".") || clientip.IsLocalHost(host)
}

// IsTrackingHost reports whether a Host header names the tracking host of an account.
func (r *Rules) IsTrackingHost(host string) bool {
	_, found := r.current.Load().hosts[clientip.HostName(host)]
	return found
}

// OwnsHost reports whether a host belongs to an account.
func (r *Rules) OwnsHost(ctx context.Context, accountID, host string) (bool, error) {
	name := clientip.HostName(host)
	if r.current.Load().hosts[name] == accountID {
		return true, nil
	}
	return r.former.Get(ctx, holdingKey{accountID, name}, r.loadHolding)
}

// WithholdReason is the reason why a link does not redirect.
type WithholdReason string

// Reasons, used as metric labels. None means that the link redirects.
const (
	None      WithholdReason = ""
	Suspended WithholdReason = "account_suspended"
	Flagged   WithholdReason = "flagged"
)

// WithholdReason returns why a click on a link of an account must not redirect to a target, or None.
func (r *Rules) WithholdReason(accountID, target string) WithholdReason {
	now := r.current.Load()
	switch {
	case now.suspended[accountID]:
		return Suspended
	case now.flags.match(target):
		return Flagged
	}
	return None
}

// Move reports whether an account is being moved to another installation or has moved there. to is the base URL of that
// installation once the move has finished.
func (r *Rules) Move(accountID string) (to string, moving bool) {
	to, moving = r.current.Load().moving[accountID]
	return to, moving
}

const (
	exceptionsSQL = `
SELECT id, suspended_at IS NOT NULL, frozen_at IS NOT NULL, coalesce(moved_to, '') FROM accounts WHERE suspended_at IS NOT NULL OR frozen_at IS NOT NULL`

	hostsSQL = `SELECT host, account_id FROM tracking_hosts WHERE verified_at IS NOT NULL`

	holdsSQL = `SELECT EXISTS (SELECT FROM domains WHERE account_id = $1 AND name = ANY ($2) AND status IN ('verified', 'temporary_failure'))`
)

// Reload loads the rules. After an error, the previous state remains in force.
func (r *Rules) Reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	next := &state{suspended: map[string]bool{}, moving: map[string]string{}, hosts: map[string]string{}}
	err := db.Each(ctx, r.db.SQL, func(row db.Row) error {
		var accountID, movedTo string
		var suspended, frozen bool
		if err := row.Scan(&accountID, &suspended, &frozen, &movedTo); err != nil {
			return err
		}
		if suspended {
			next.suspended[accountID] = true
		}
		if frozen {
			next.moving[accountID] = movedTo
		}
		return nil
	}, exceptionsSQL)
	if err == nil {
		err = db.Each(ctx, r.db.SQL, func(row db.Row) error {
			var host, accountID string
			err := row.Scan(&host, &accountID)
			next.hosts[host] = accountID
			return err
		}, hostsSQL)
	}
	if err == nil {
		next.flags, err = loadFlags(ctx, r.db)
	}
	if err != nil {
		return fmt.Errorf("read the rules of tracked links: %w", err)
	}
	r.current.Store(next)
	return nil
}

func (r *Rules) loadHolding(ctx context.Context, of holdingKey) (bool, error) {
	found, err := db.One(ctx, r.db.SQL, db.Value[bool], holdsSQL, of.accountID, db.Array(parentNames(of.host)))
	if err != nil {
		return false, fmt.Errorf("look up the holder of %s: %w", of.host, err)
	}
	return found, nil
}

// parentNames returns the parent domains of a host: b.c and c for a.b.c.
func parentNames(host string) []string {
	var names []string
	for {
		_, parent, found := strings.Cut(host, ".")
		if !found {
			return names
		}
		names, host = append(names, parent), parent
	}
}
