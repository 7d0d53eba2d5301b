package hosts

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Domains tells what domains an account has.
type Domains interface {
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
}

// resolver is what is needed of DNS.
type resolver interface {
	LookupCNAME(ctx context.Context, name string) (string, error)
}

// Params of New.
type Params struct {
	fx.In

	Config       Config
	DB           *db.DB
	Domains      Domains
	Resolver     *dnsx.Resolver
	Certificates Certificates `optional:"true"`
	Logger       *slog.Logger
	Workers      *worker.Metrics `optional:"true"`
}

// Service knows the tracking hosts of domains. Safe for concurrent use.
type Service struct {
	config       Config
	db           *db.DB
	domains      Domains
	dns          resolver
	certificates Certificates // nil: nothing gets any
	log          *slog.Logger
	own          map[string]bool // hosts of this installation
	checks       *worker.Worker[job, sighting]
}

// New makes the service; nothing is checked before Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config
	s := &Service{config: config, db: p.DB, domains: p.Domains, dns: p.Resolver.Uncached(), certificates: p.Certificates, log: p.Logger, own: map[string]bool{}}
	for _, host := range append([]string{config.Target}, config.Own...) {
		s.own[strings.ToLower(strings.TrimSuffix(host, "."))] = true
	}
	s.checks = worker.New(s.queue(), worker.Config{Concurrency: checks, Batch: checks, Lease: checkTimeout + 45*time.Second,
		Poll: 5 * time.Second}, p.Logger, p.Workers)
	return s, nil
}

// Start begins to check hosts in the background.
func (s *Service) Start(ctx context.Context) error { return s.checks.Start(ctx) }

// Stop lets running checks end and stores what they saw.
func (s *Service) Stop(ctx context.Context) error { return s.checks.Stop(ctx) }

// Input is the input of Set.
type Input struct{ Host string }

// Host is the tracking host of a domain as callers see it.
type Host struct {
	*ent.TrackingHost
	Target      string // what the CNAME record has to point to
	Certificate Certificate
}

// Set makes a name below the domain its tracking host. It is pending until its
// CNAME record was seen; the same name again changes nothing.
func (s *Service) Set(ctx context.Context, accountID, domainID string, in Input) (Host, error) {
	d, err := s.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Host{}, err
	}
	name, reason := s.parse(d.Name, in.Host)
	switch {
	case reason != "":
		return Host{}, fault.InvalidField("host", "%s", reason)
	case s.config.Target == "":
		return Host{}, fault.Conflictf(fault.CodeConflict, "This installation has no name that a CNAME record could point to: its operator has to set POSTRIDER_TRACKING_HOST")
	case !domains.Sends(d.Status):
		return Host{}, fault.Conflictf(fault.CodeDomainNotVerified, "Verify the domain %s before you give it a tracking host", d.Name)
	}
	err = s.put(ctx, accountID, domainID, name)
	if fault.IsDuplicate(err) {
		if err = s.evict(ctx, name); err == nil {
			err = s.put(ctx, accountID, domainID, name)
		}
	}
	switch {
	case fault.IsDuplicate(err):
		return Host{}, fault.Conflictf(fault.CodeConflict, "The host %s is the tracking host of another domain already", name)
	case err != nil:
		return Host{}, fmt.Errorf("set tracking host: %w", err)
	}
	return s.Get(ctx, accountID, domainID)
}

// Another name begins anew, and is looked up soon.
const putSQL = `
INSERT INTO tracking_hosts AS t (account_id, domain_id, host, status, due_at) VALUES ($1, $2, $3, 'pending', now() + interval '1 minute')
ON CONFLICT (domain_id) DO UPDATE SET account_id = $1, host = $3, status = 'pending', found = NULL, error = '', verified_at = NULL, last_checked_at = NULL,
       failing_since = NULL, due_at = now() + interval '1 minute', fence = t.fence + 1, created_at = now(), updated_at = now()
 WHERE t.host <> $3 OR t.account_id <> $1`

func (s *Service) put(ctx context.Context, accountID, domainID, host string) error {
	_, err := s.db.SQL.ExecContext(ctx, putSQL, accountID, domainID, host)
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

// parse gives the name as it is stored, or one sentence fragment on what is
// wrong with it.
func (s *Service) parse(domain, input string) (host, reason string) {
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

// Get gives the tracking host of a domain.
func (s *Service) Get(ctx context.Context, accountID, domainID string) (Host, error) {
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
	case !weburl.Secure(s.config.BaseURL):
		h.Certificate.Status = CertificateNotNeeded
	case s.certificates == nil:
		h.Certificate.Status = CertificateUnavailable
	default:
		h.Certificate = s.certificates.Certificate(ctx, row.Host)
	}
	return h
}

// Delete takes the tracking host from a domain. Links that were sent under it
// work as long as its CNAME record stays and its certificate holds.
func (s *Service) Delete(ctx context.Context, accountID, domainID string) error {
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

// Verify looks the CNAME record up now. A host that stays unverified is no
// error: the answer says what to do.
func (s *Service) Verify(ctx context.Context, accountID, domainID string) (Host, error) {
	h, err := s.Get(ctx, accountID, domainID)
	if err != nil {
		return Host{}, err
	}
	seen := s.look(ctx, h.Host)
	if err := ctx.Err(); err != nil {
		return Host{}, fmt.Errorf("verify tracking host: %w", err) // the caller has gone, and took the look-up along
	}
	if err := s.store(ctx, []checked{{job: job{host: h.TrackingHost}, seen: seen}}); err != nil {
		return Host{}, fmt.Errorf("verify tracking host: %w", err)
	}
	return s.Get(ctx, accountID, domainID)
}

func ignoreMissing(err error) error {
	if ent.IsNotFound(err) {
		return nil
	}
	return err
}
