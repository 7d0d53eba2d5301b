// Package mtasts finds the MTA-STS policies of receiving domains (RFC 8461): over HTTPS, a domain publishes
// which mail hosts it uses and whether they must have a verified certificate.
//
// A domain announces its policy by a TXT record whose id changes with the policy. The record is looked up each
// time (the resolver caches it). The policy is kept for its max_age in a bounded cache of this process, and
// fetched again after the id changes or after a day. While a policy is valid, neither a missing record nor a
// failed fetch removes it: an attacker could cause both (RFC 8461, 3.3). A failed fetch is not repeated until
// retryAfter has passed.
//
// A domain whose policy was never fetched and cannot be found is treated as having no policy: RFC 8461, 3.1 and
// 3.3 leave no other choice. Its mail is delivered without MTA-STS.
package mtasts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	mox "github.com/mjl-/mox/mtasts"

	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/limit"
)

// Policy is the policy of a domain.
type Policy struct {
	ID      string // of the record that announced it
	Enforce bool   // if false, testing only: failures are counted and mail is delivered
	hosts   []string
}

// Allows reports whether a policy allows a mail host (RFC 8461, 4.1).
func (p *Policy) Allows(host string) bool {
	host = canonicalName(host)
	_, parent, _ := strings.Cut(host, ".")
	for _, pattern := range p.hosts {
		// A wildcard matches exactly one label.
		if suffix, wild := strings.CutPrefix(pattern, "*."); pattern == host || wild && parent == suffix {
			return true
		}
	}
	return false
}

// FailureReason is why an announced policy could not be used, as a result type of TLS-RPT (RFC 8460, 4.3.2.2).
type FailureReason string

// The reasons for a failure.
const (
	PolicyInvalid FailureReason = "sts-policy-invalid"     // fetched, but not a valid policy
	WebPKIInvalid FailureReason = "sts-webpki-invalid"     // the HTTPS certificate does not verify
	FetchError    FailureReason = "sts-policy-fetch-error" // any other failure
)

// FetchFailure is the error of a fetch.
type FetchFailure struct { //nolint:errname // read by TLS reports under this name
	Problem FailureReason
	cause   error
}

func (e *FetchFailure) Error() string { return fmt.Sprintf("%s: %v", e.Problem, e.cause) }

// Unwrap returns the cause.
func (e *FetchFailure) Unwrap() error { return e.cause }

// Resolver looks up TXT records. Its error for a missing record is a dnsx.ErrNotFound.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

const (
	retryAfter      = 5 * time.Minute // between failed fetches for one domain (RFC 8461, 3.3)
	refreshInterval = 24 * time.Hour  // of a policy that is still valid (RFC 8461, 3.3)
	cacheBytes      = 16 << 20        // for all policies together
)

// Config configures a Finder.
type Config struct {
	Resolver Resolver // required

	// Client fetches policies. It must verify certificates, reject private addresses (the host name is
	// untrusted) and follow no redirects. Required.
	Client *http.Client

	FetchTimeout time.Duration // default 10 s
	Logger       *slog.Logger  // default: none

	Port int              // for tests: the port of HTTPS servers; default 443
	Now  func() time.Time // for tests: the clock; default the system's
}

// Finder finds and caches policies. It is safe for concurrent use.
type Finder struct {
	cfg   Config
	cache *cache.Cache[string, *entry]
	turns *limit.Keyed[string] // one fetch per domain at a time
}

// entry is the cached state of a domain. It is replaced, never changed.
type entry struct {
	policy  *Policy // nil if no policy was ever fetched, or its mode is "none"
	id      string  // of the record of the last successful fetch
	size    int
	fetched time.Time
	expires time.Time

	failedID string // of the record of the last failed fetch
	retry    time.Time
	failure  *FetchFailure
}

// New returns a new Finder. It does not look anything up yet.
func New(cfg Config) (*Finder, error) {
	if cfg.Resolver == nil || cfg.Client == nil {
		return nil, errors.New("mta-sts: requires a resolver and an HTTP client")
	}
	cfg.FetchTimeout = cmp.Or(cfg.FetchTimeout, 10*time.Second)
	cfg.Port = cmp.Or(cfg.Port, 443)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	policies := cache.New(cache.Config[string, *entry]{Max: cacheBytes,
		Weigh: func(domain string, e *entry) int { return 256 + len(domain) + e.size }})
	return &Finder{cfg: cfg, cache: policies,
		turns: limit.NewKeyed[string](limit.Bounds{PerKey: 1, Waiting: limit.Unbounded})}, nil
}

// Policy returns the policy of a domain (A-labels), or nil if there is none. The error, a *FetchFailure or
// that of ctx, is informational: it explains why no policy newer than the returned one is known.
func (f *Finder) Policy(ctx context.Context, domain string) (*Policy, error) {
	domain = canonicalName(domain)
	id := f.lookupID(ctx, domain)
	known := f.cachedEntry(domain)
	if id == "" || f.isCurrent(known, id) {
		return known.policy, nil
	}
	if f.failedLately(known, id) {
		return known.policy, known.failure
	}
	if err := f.turns.Acquire(ctx, domain); err != nil {
		return known.policy, err
	}
	defer f.turns.Release(domain)
	if known = f.cachedEntry(domain); f.isCurrent(known, id) { // another caller has fetched it in the meantime
		return known.policy, nil
	}
	if f.failedLately(known, id) {
		return known.policy, known.failure
	}
	return f.renewPolicy(ctx, domain, id, known)
}

// renewPolicy fetches a policy and caches the result.
func (f *Finder) renewPolicy(ctx context.Context, domain, id string, known entry) (*Policy, error) {
	fetched, err := f.fetchPolicy(ctx, domain)
	now := f.cfg.Now()
	var failure *FetchFailure
	switch {
	case err == nil:
		next := &entry{policy: policyOf(fetched, id), id: id, fetched: now, size: sizeOf(fetched),
			expires: now.Add(time.Duration(fetched.MaxAgeSeconds) * time.Second)}
		f.cache.Set(domain, next)
		return next.policy, nil
	case errors.As(err, &failure):
		f.cfg.Logger.WarnContext(ctx, "mta-sts policy could not be fetched",
			slog.String("domain", domain), slog.Bool("older_policy", known.policy != nil), slog.Any("error", err))
		known.failedID, known.retry, known.failure = id, now.Add(retryAfter), failure
		f.cache.Set(domain, &known)
	}
	return known.policy, err
}

// cachedEntry returns the cached state of a domain, with a policy only while it is valid.
func (f *Finder) cachedEntry(domain string) entry {
	e, found := f.cache.GetIfPresent(domain)
	if !found {
		return entry{}
	}
	known := *e
	if !f.cfg.Now().Before(known.expires) {
		known.policy, known.id, known.size = nil, "", 0
	}
	return known
}

func (f *Finder) isCurrent(e entry, id string) bool {
	return e.id == id && f.cfg.Now().Before(e.fetched.Add(refreshInterval))
}

func (f *Finder) failedLately(e entry, id string) bool {
	return e.failedID == id && f.cfg.Now().Before(e.retry)
}

// lookupID returns the id of a domain's record. It is empty if there is no record, there are several, it is
// invalid, or the DNS does not respond (RFC 8461, 3.1).
func (f *Finder) lookupID(ctx context.Context, domain string) string {
	texts, err := f.cfg.Resolver.LookupTXT(ctx, "_mta-sts."+domain)
	if err != nil {
		return ""
	}
	id, records := "", 0
	for _, text := range texts {
		record, is, err := mox.ParseRecord(text)
		if !is {
			continue
		}
		records++
		if err == nil {
			id = record.ID
		}
	}
	if records != 1 {
		return ""
	}
	return id
}

func policyOf(fetched *mox.Policy, id string) *Policy {
	if fetched.Mode == mox.ModeNone {
		return nil
	}
	p := &Policy{ID: id, Enforce: fetched.Mode == mox.ModeEnforce}
	for _, mx := range fetched.MX {
		pattern := canonicalName(mx.Domain.ASCII)
		if mx.Wildcard {
			pattern = "*." + pattern
		}
		p.hosts = append(p.hosts, pattern)
	}
	return p
}

func sizeOf(p *mox.Policy) int {
	size := 0
	for _, mx := range p.MX {
		size += 32 + len(mx.Domain.ASCII)
	}
	return size
}

func canonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
