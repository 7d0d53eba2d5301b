package accounts

import (
	"cmp"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/setting"
)

// DefaultPlan is the plan of new accounts.
var DefaultPlan = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_DEFAULT_PLAN", Group: "Billing", Form: setting.Text("PLAN"),
	DefaultText: "scale; free when billing is on",
	Help:        "Plan of new accounts: an ID from postrider admin plan list.",
})

// Config configures the module. The zero value of a field selects its default.
type Config struct {
	// CacheTTL is how long a cached credential or account is used without a query. It defaults to 3 s and
	// cannot exceed 4 s, because a revocation must take effect within 5 s.
	CacheTTL time.Duration
	// CacheSize is the maximum number of cached credentials, including unknown ones. It defaults to 20,000.
	CacheSize int
	// LastUsedEvery is the interval at which last_used_at is written. It defaults to 30 s.
	LastUsedEvery time.Duration
	// SweepEvery is the interval at which old counters are deleted. It defaults to 6 h.
	SweepEvery time.Duration
	// CloseEvery is the interval at which emails of hours that have ended are counted. It defaults to 1 min.
	CloseEvery time.Duration
	// RecountEvery is the interval at which the service looks for accounts with a new plan. It defaults to 5
	// s.
	RecountEvery time.Duration
	// RecountAfter is how long after a change of plan every process is certain to use the new plan. It
	// defaults to 10 s.
	RecountAfter time.Duration
	// DefaultPlan is the plan of teams that users create. It defaults to scale, whose caps no account
	// reaches.
	DefaultPlan string
	// NoTestMode is set if the module testmode is disabled. Test keys then cannot be created.
	NoTestMode bool
}

func (c Config) withDefaults() Config {
	if c.CacheTTL == 0 {
		c.CacheTTL = 3 * time.Second
	}
	if c.CacheSize == 0 {
		c.CacheSize = 20_000
	}
	if c.LastUsedEvery == 0 {
		c.LastUsedEvery = 30 * time.Second
	}
	if c.SweepEvery == 0 {
		c.SweepEvery = 6 * time.Hour
	}
	c.CloseEvery = cmp.Or(c.CloseEvery, time.Minute)
	c.RecountEvery = cmp.Or(c.RecountEvery, 5*time.Second)
	c.RecountAfter = cmp.Or(c.RecountAfter, 10*time.Second)
	c.DefaultPlan = cmp.Or(c.DefaultPlan, PlanScale)
	return c
}

// Validate reports every invalid setting.
func (c Config) Validate() error {
	wrong := fault.Fields{}
	if c.CacheTTL < 0 || c.CacheTTL > 4*time.Second {
		wrong.Add("cache_ttl", "must be between 0 and 4s, so that a revoked key stops working within 5s")
	}
	if c.CacheSize < 0 {
		wrong.Add("cache_size", "must be positive")
	}
	if c.LastUsedEvery < 0 {
		wrong.Add("last_used_every", "must be positive")
	}
	for name, d := range map[string]time.Duration{"sweep_every": c.SweepEvery, "close_every": c.CloseEvery,
		"recount_every": c.RecountEvery, "recount_after": c.RecountAfter} {
		if d < 0 {
			wrong.Add(name, "must be positive")
		}
	}
	return wrong.Err()
}
