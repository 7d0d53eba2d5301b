package tracking

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/address"
)

// HostInput is the input of SetHost.
type HostInput struct{ Host string }

// Host is the tracking host of a domain as callers see it.
type Host struct {
	*ent.TrackingHost
	Target      string // what the CNAME record has to point to
	Certificate Certificate
}

// Certificate says whether a host can be served over TLS.
type Certificate struct {
	Status  string     // not_needed, unavailable, pending, issued, failed
	Expires *time.Time // of the issued one
	Error   string     // why it failed, one sentence
}

// What a certificate's status can be.
const (
	CertificateNotNeeded   = "not_needed"  // the installation is reached without TLS: development
	CertificateUnavailable = "unavailable" // nothing here gets certificates: links keep the installation's own host
	CertificatePending     = "pending"
	CertificateIssued      = "issued"
	CertificateFailed      = "failed"
)

// SetHost makes a name below the domain its tracking host. It is pending until its
// CNAME record was seen; the same name again changes nothing.
func (s *Service) SetHost(ctx context.Context, accountID, domainID string, in HostInput) (Host, error) {
	d, err := s.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Host{}, err
	}
	name, reason := s.parseHost(d.Name, in.Host)
	switch {
	case reason != "":
		return Host{}, fault.InvalidField("host", "%s", reason)
	case s.config.Target == "":
		return Host{}, fault.Conflictf(fault.CodeConflict, "This installation has no name that a CNAME record could point to: its operator has to set POSTRIDER_TRACKING_HOST")
	case !domains.Sends(d.Status):
		return Host{}, fault.Conflictf(fault.CodeDomainNotVerified, "Verify the domain %s before you give it a tracking host", d.Name)
	}
	err = s.putHost(ctx, accountID, domainID, name)
	if fault.IsDuplicate(err) {
		if err = s.evict(ctx, name); err == nil {
			err = s.putHost(ctx, accountID, domainID, name)
		}
	}
	switch {
	case fault.IsDuplicate(err):
		return Host{}, fault.Conflictf(fault.CodeConflict, "The host %s is the tracking host of another domain already", name)
	case err != nil:
		return Host{}, fmt.Errorf("set tracking host: %w", err)
	}
	return s.GetHost(ctx, accountID, domainID)
}

// Another name begins anew, and is looked up soon.
const putHostSQL = `
INSERT INTO tracking_hosts AS t (account_id, domain_id, host, status, due_at) VALUES ($1, $2, $3, 'pending', now() + interval '1 minute')
ON CONFLICT (domain_id) DO UPDATE SET account_id = $1, host = $3, status = 'pending', found = NULL, error = '', verified_at = NULL, last_checked_at = NULL,
       failing_since = NULL, due_at = now() + interval '1 minute', fence = t.fence + 1, created_at = now(), updated_at = now()
 WHERE t.host <> $3 OR t.account_id <> $1`

func (s *Service) putHost(ctx context.Context, accountID, domainID, host string) error {
	_, err := s.db.SQL.ExecContext(ctx, putHostSQL, accountID, domainID, host)
	return err
}

// evict frees a name whose holder may not use it any more: its domain is gone,
// or not verified, and somebody else has it now.
func (s *Service) evict(ctx context.Context, host string) error {
	held, err := s.db.Ent.TrackingHost.Query().Where(trackinghost.Host(host)).Only(ctx)
	if err != nil {
		return ignoreMissing(err)
	}
	d, err := s.domains.Get(ctx, held.AccountID, held.DomainID)
	if err == nil && domains.Sends(d.Status) {
		return nil
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	_, err = s.db.Ent.TrackingHost.Delete().Where(trackinghost.ID(held.ID), trackinghost.AccountID(held.AccountID), trackinghost.DomainID(held.DomainID)).Exec(ctx)
	return err
}

// parseHost gives the name as it is stored, or one sentence fragment on what is
// wrong with it.
func (s *Service) parseHost(domain, input string) (host, reason string) {
	input = strings.Trim(input, " ")
	if input == "" {
		return "", "is required"
	}
	host, err := address.ParseDomain(strings.TrimSuffix(input, "."))
	if err != nil {
		return "", err.Error()
	}
	label, below := strings.CutSuffix(host, "."+domain)
	switch {
	case !below:
		return "", fmt.Sprintf("must lie below %s, as in links.%s", domain, domain)
	case label == "rp":
		return "", "is the return path of the domain"
	case s.own[host]:
		return "", "is a host of this service"
	}
	return host, ""
}

// GetHost gives the tracking host of a domain.
func (s *Service) GetHost(ctx context.Context, accountID, domainID string) (Host, error) {
	if _, err := s.domains.Get(ctx, accountID, domainID); err != nil {
		return Host{}, err
	}
	row, err := s.db.Ent.TrackingHost.Query().Where(trackinghost.AccountID(accountID), trackinghost.DomainID(domainID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return Host{}, fault.Missing("tracking host of domain", domainID)
	case err != nil:
		return Host{}, fmt.Errorf("get tracking host: %w", err)
	}
	return s.shown(ctx, row), nil
}

func (s *Service) shown(ctx context.Context, row *ent.TrackingHost) Host {
	h := Host{TrackingHost: row, Target: s.config.Target}
	switch {
	case !s.config.secure():
		h.Certificate.Status = CertificateNotNeeded
	case s.certificates == nil:
		h.Certificate.Status = CertificateUnavailable
	default:
		h.Certificate = s.certificates.Certificate(ctx, row.Host)
	}
	return h
}

// DeleteHost takes the tracking host from a domain. Links that were sent under it
// work as long as its CNAME record stays and its certificate holds.
func (s *Service) DeleteHost(ctx context.Context, accountID, domainID string) error {
	if _, err := s.domains.Get(ctx, accountID, domainID); err != nil {
		return err
	}
	count, err := s.db.Ent.TrackingHost.Delete().Where(trackinghost.AccountID(accountID), trackinghost.DomainID(domainID)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete tracking host: %w", err)
	}
	if count == 0 {
		return fault.Missing("tracking host of domain", domainID)
	}
	return nil
}

// VerifyHost looks the CNAME record up now. A host that stays unverified is no
// error: the answer says what to do.
func (s *Service) VerifyHost(ctx context.Context, accountID, domainID string) (Host, error) {
	h, err := s.GetHost(ctx, accountID, domainID)
	if err != nil {
		return Host{}, err
	}
	seen := s.lookHost(ctx, h.Host)
	if err := ctx.Err(); err != nil {
		return Host{}, fmt.Errorf("verify tracking host: %w", err) // the caller has gone, and took the look-up along
	}
	if err := s.storeHosts(ctx, []checkedHost{{job: hostJob{host: h.TrackingHost}, seen: seen}}); err != nil {
		return Host{}, fmt.Errorf("verify tracking host: %w", err)
	}
	return s.GetHost(ctx, accountID, domainID)
}

func ignoreMissing(err error) error {
	if ent.IsNotFound(err) {
		return nil
	}
	return err
}
