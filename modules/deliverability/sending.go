package deliverability

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// localAddrSQL is the address in local_addr, which may have a port.
	localAddrSQL = `CASE WHEN t.local_addr LIKE '[%' THEN split_part(substr(t.local_addr, 2), ']', 1)
	WHEN t.local_addr LIKE '%.%:%' AND t.local_addr NOT LIKE '%:%:%' THEN split_part(t.local_addr, ':', 1) ELSE t.local_addr END`

	// sendingSQL selects the source addresses of recent attempts, except those to smarthosts, which have their own, and
	// the configured ones.
	sendingSQL = `
SELECT DISTINCT ` + localAddrSQL + ` FROM (SELECT id FROM emails ORDER BY id DESC LIMIT 2000) e JOIN attempts t ON t.email_id = e.id
 WHERE t.local_addr <> '' AND t.way NOT LIKE 'smarthost:%'
UNION SELECT address FROM sources WHERE paused_at IS NULL LIMIT $1`
)

// readSendingAddresses returns the public addresses from which the installation sends mail.
func (s *sourceNames) readSendingAddresses(ctx context.Context) ([]string, error) {
	found, err := db.All(ctx, s.db.SQL, db.Value[string], sendingSQL, maxSendingAddrs)
	if err != nil {
		return nil, fmt.Errorf("source addresses: %w", err)
	}
	return publicOnly(found), nil
}

// publicOnly returns the public addresses of a list in canonical form. Behind address translation, the addresses that
// receivers see are those in DMARC reports.
func publicOnly(list []string) []string {
	out := []string{}
	for _, text := range list {
		addr, err := netip.ParseAddr(text)
		if addr = addr.Unmap().WithZone(""); err == nil && addr.IsGlobalUnicast() && !addr.IsPrivate() &&
			!slices.Contains(out, addr.String()) {
			out = append(out, addr.String())
		}
	}
	return out
}

// mailSample describes the newest emails of a domain.
type mailSample struct {
	emails, oneClick int64
	// Deliveries to public addresses, and those of them to Gmail.
	delivered, encrypted             int64
	gmailDelivered, gmailUnencrypted int64

	addresses []string // public source addresses
}

const (
	sampleSize = 500

	sampleSQL = `
WITH e AS MATERIALIZED (SELECT id, unsubscribe, headers FROM emails WHERE domain_id = $1 AND id >= $2 ORDER BY id DESC LIMIT $3),
t AS MATERIALIZED (SELECT ` + localAddrSQL + ` AS local, t.way, t.tls <> '' AS encrypted, t.remote_host ~* '(^|\.)google(mail)?\.com\.?$' AS gmail,
	t.outcome = 'delivered' AND t.remote_addr <> '' AND t.remote_addr !~ '^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?(::1|f[cd]|fe80))' AS delivered
	FROM e JOIN attempts t ON t.email_id = e.id)
SELECT (SELECT count(*) FROM e), (SELECT count(*) FROM e WHERE unsubscribe OR headers::text ILIKE '%list-unsubscribe-post%'),
	count(*) FILTER (WHERE delivered), count(*) FILTER (WHERE delivered AND encrypted),
	count(*) FILTER (WHERE delivered AND gmail), count(*) FILTER (WHERE delivered AND gmail AND NOT encrypted),
	to_json(coalesce(array_agg(DISTINCT local) FILTER (WHERE local <> '' AND way NOT LIKE 'smarthost:%'), '{}'))::text FROM t`
)

// readSample reads the newest emails of a domain within the period.
func (s *Service) readSample(ctx context.Context, domainID string, now time.Time) (m mailSample, err error) {
	m, err = db.One(ctx, s.db.SQL, func(m *mailSample) []any {
		return []any{&m.emails, &m.oneClick, &m.delivered, &m.encrypted, &m.gmailDelivered, &m.gmailUnencrypted,
			db.ScanJSON(&m.addresses)}
	}, sampleSQL, domainID, id.Since(id.Email, now.AddDate(0, 0, -Period)), sampleSize)
	m.addresses = publicOnly(m.addresses)
	return m, err
}

// sendingAddress is a source address of a domain's mail.
type sendingAddress struct {
	address, name string // name: verified reverse name; empty if it has none
	known         bool   // whether the name was looked up
}

const namesSQL = `
SELECT x.address, coalesce(m.name, ''), m.source IS NOT NULL FROM unnest($1::text[]) WITH ORDINALITY AS x (address, n)
  LEFT JOIN mail_sources m ON m.source = x.address ORDER BY x.n`

// readAddresses returns the source addresses of a domain's mail: those of recent attempts, and those of this
// installation in DMARC reports.
func (s *Service) readAddresses(ctx context.Context, m mailSample, sources []Source) ([]sendingAddress, error) {
	addrs := m.addresses
	for _, source := range sources {
		if source.Ours {
			addrs = append(addrs, source.Address)
		}
	}
	addrs = publicOnly(addrs)
	return db.All(ctx, s.db.SQL, func(a *sendingAddress) []any { return []any{&a.address, &a.name, &a.known} },
		namesSQL, db.Array(addrs[:min(len(addrs), maxSources)]))
}

// readSending returns the sample of a domain's mail and its source addresses, and reads the blocklists into its
// summary.
func (s *Service) readSending(ctx context.Context, out *Summary, now time.Time) (m mailSample, addrs []sendingAddress,
	err error) {
	if m, err = s.readSample(ctx, out.DomainID, now); err != nil {
		return m, nil, err
	}
	if addrs, err = s.readAddresses(ctx, m, out.Sources); err != nil || len(s.blocklists) == 0 {
		return m, addrs, err
	}
	subjects := []string{out.Domain}
	for _, a := range addrs {
		subjects = append(subjects, a.address)
	}
	out.Blocklists, err = s.readListings(ctx, subjects)
	return m, addrs, err
}
