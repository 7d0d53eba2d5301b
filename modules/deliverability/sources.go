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

	// dueSourcesSQL selects the addresses from which this installation sends, whose names are unknown or older than a
	// day, and the largest sources of each domain whose names are unknown or older than a week.
	dueSourcesSQL = `
WITH ranked AS (SELECT source, sum(messages) AS messages,
		row_number() OVER (PARTITION BY domain_id ORDER BY sum(messages) DESC, source) AS rank
		FROM dmarc_counts WHERE day >= to_char(now() - interval '30 days', 'YYYY-MM-DD') GROUP BY domain_id, source)
SELECT source FROM (
	SELECT r.source, sum(r.messages) AS messages FROM ranked r LEFT JOIN mail_sources m USING (source)
	 WHERE r.rank <= $1 AND (m.source IS NULL OR m.checked_at < now() - interval '7 days') GROUP BY r.source
	UNION ALL SELECT x.source, NULL FROM unnest($3::text[]) AS x (source) LEFT JOIN mail_sources m USING (source)
	 WHERE m.source IS NULL OR m.checked_at < now() - interval '1 day') due
 GROUP BY source ORDER BY max(messages) DESC NULLS FIRST, source LIMIT $2`

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
	sending, err := s.readSendingAddresses(ctx)
	if err != nil {
		return err
	}
	due, err := db.All(ctx, s.db.SQL, db.Value[string], dueSourcesSQL, maxSources, lookUpAtOnce, db.Array(sending))
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
		if name == unknownName {
			if name = ""; slices.Contains(sending, source) {
				continue // a name that DNS did not answer for is not missing
			}
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

const (
	maxReverseNames = 3
	unknownName     = "?" // no DNS name
)

// reverseName returns a reverse name that resolves to its address (RFC 8601 section 3), an empty string if there is
// none, or unknownName.
func (s *sourceNames) reverseName(ctx context.Context, source netip.Addr) string {
	names, err := s.dns.LookupAddr(ctx, source.String())
	failed := err != nil && !errors.Is(err, dnsx.ErrNotFound)
	for _, name := range names[:min(len(names), maxReverseNames)] {
		addrs, err := s.dns.LookupIP(ctx, name)
		failed = failed || err != nil && !errors.Is(err, dnsx.ErrNotFound)
		if (err == nil || !errors.Is(err, dnsx.ErrNotFound)) && slices.Contains(addrs, source) {
			return strings.ToLower(strings.TrimSuffix(name, "."))
		}
	}
	if failed {
		return unknownName
	}
	return ""
}
