package deliverability

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/spf"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	lookUpAtOnce = 100 // sources per step, which bounds the lookups that reports can cause
	lookUpWithin = 5 * time.Second

	// dueSourcesSQL selects the largest sources of each domain whose name is unknown or older than a week.
	dueSourcesSQL = `
WITH ranked AS (SELECT source, sum(messages) AS messages,
		row_number() OVER (PARTITION BY domain_id ORDER BY sum(messages) DESC, source) AS rank
		FROM dmarc_counts WHERE day >= to_char(now() - interval '30 days', 'YYYY-MM-DD') GROUP BY domain_id, source)
SELECT r.source FROM ranked r LEFT JOIN mail_sources m USING (source)
 WHERE r.rank <= $1 AND (m.source IS NULL OR m.checked_at < now() - interval '7 days')
 GROUP BY r.source ORDER BY sum(r.messages) DESC, r.source LIMIT $2`

	sourceSQL = `
INSERT INTO mail_sources (source, name, ours, checked_at) VALUES ($1, $2, $3, now())
ON CONFLICT (source) DO UPDATE SET name = EXCLUDED.name, ours = EXCLUDED.ours, checked_at = EXCLUDED.checked_at`
)

// sourceNames looks up the names of servers.
type sourceNames struct {
	db         *db.DB
	dns        Resolver
	spfInclude string // host whose SPF record lists our addresses
}

// LookUpSources looks up the names of sources that reports name, the largest first.
func (s *sourceNames) LookUpSources(ctx context.Context) error {
	due, err := db.All(ctx, s.db.SQL, db.Value[string], dueSourcesSQL, maxSources, lookUpAtOnce)
	if err != nil {
		return fmt.Errorf("names of mail sources: %w", err)
	}
	for _, source := range due {
		addr, err := netip.ParseAddr(source)
		if err != nil {
			continue // cannot happen: only addresses are stored
		}
		name, ours, err := s.lookUpSource(ctx, addr)
		if err != nil {
			return err
		}
		if _, err := s.db.SQL.ExecContext(ctx, sourceSQL, source, name, ours); err != nil {
			return fmt.Errorf("names of mail sources: %w", err)
		}
	}
	return nil
}

// lookUpSource returns the verified reverse name of a source, and whether our SPF record contains it. A source that
// DNS does not answer for in time has no name for now.
func (s *sourceNames) lookUpSource(ctx context.Context, source netip.Addr) (name string, ours bool, err error) {
	within, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	e := &spf.Evaluation{Source: s.dns, Reverse: []string{}}
	if result, _ := e.Check(within, spf.Client{IP: source.AsSlice(), Hello: s.spfInclude,
		Sender: "postmaster@" + s.spfInclude}); result == spf.Pass {
		ours = true
	}
	name = s.reverseName(within, source)
	return name, ours, ctx.Err()
}

const maxReverseNames = 3

// reverseName returns a reverse name that resolves to its address (RFC 8601 section 3), or an empty string.
func (s *sourceNames) reverseName(ctx context.Context, source netip.Addr) string {
	names, err := s.dns.LookupAddr(ctx, source.String())
	if err != nil {
		return ""
	}
	for _, name := range names[:min(len(names), maxReverseNames)] {
		addrs, err := s.dns.LookupIP(ctx, name)
		if (err == nil || !errors.Is(err, dnsx.ErrNotFound)) && slices.Contains(addrs, source) {
			return strings.ToLower(strings.TrimSuffix(name, "."))
		}
	}
	return ""
}
