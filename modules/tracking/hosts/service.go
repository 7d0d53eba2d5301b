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
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Domains looks up the domains of an account.
type Domains interface {
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
}

// resolver is the part of a DNS resolver that this package uses.
type resolver interface {
	LookupCNAME(ctx context.Context, name string) (string, error)
}

// Params are the dependencies of New.
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

// Service manages the tracking hosts of domains. It is safe for concurrent use.
type Service struct {
	config       Config
	db           *db.DB
	domains      Domains
	dns          resolver
	certificates Certificates // nil: no certificates are obtained
	log          *slog.Logger
	own          map[string]bool // names of this installation
	checks       *worker.Worker[job, sighting]
}

// New creates the service. Nothing is checked until Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config
	s := &Service{config: config, db: p.DB, domains: p.Domains, dns: p.Resolver.WithoutCache(),
		certificates: p.Certificates, log: p.Logger, own: map[string]bool{}}
	for _, host := range append([]string{config.Target}, config.Own...) {
		s.own[strings.ToLower(strings.TrimSuffix(host, "."))] = true
	}
	s.checks = worker.New(s.newQueue(),
		worker.Config{Concurrency: checks, Batch: checks, Lease: checkTimeout + 45*time.Second,
			Poll: 5 * time.Second}, p.Logger, p.Workers)
	return s, nil
}

// Start starts background checks.
func (s *Service) Start(ctx context.Context) error { return s.checks.Start(ctx) }

// Stop waits for running checks and stores their results.
func (s *Service) Stop(ctx context.Context) error { return s.checks.Stop(ctx) }

// HostInput is the input of Set.
type HostInput struct{ Host string }

// Host is the tracking host of a domain, as callers see it.
type Host struct {
	*ent.TrackingHost
	Target      string // required target of the CNAME record
	Certificate Certificate
}

// Set makes a name below the domain its tracking host. The host is pending until its CNAME record is seen.
// Setting the same name again changes nothing.
func (s *Service) Set(ctx context.Context, accountID, domainID string, in HostInput) (Host, error) {
	d, err := s.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Host{}, err
	}
	name, reason := s.parseHost(d.Name, in.Host)
	switch {
	case reason != "":
		return Host{}, fault.InvalidField("host", "%s", reason)
	case s.config.Target == "":
		return Host{}, fault.Conflictf(fault.CodeConflict,
			"Tracking hosts are not configured: the operator must set POSTRIDER_TRACKING_HOST")
	case !domains.CanSend(d.Status):
		return Host{}, fault.Conflictf(fault.CodeDomainNotVerified,
			"Verify the domain %s before you set its tracking host", d.Name)
	}
	err = s.storeHost(ctx, accountID, domainID, name)
	if fault.IsDuplicate(err) {
		if err = s.evictHolder(ctx, name); err == nil {
			err = s.storeHost(ctx, accountID, domainID, name)
		}
	}
	switch {
	case fault.IsDuplicate(err):
		return Host{}, fault.Conflictf(fault.CodeConflict, "The host %s is already the tracking host of another domain",
			name)
	case err != nil:
		return Host{}, fmt.Errorf("set tracking host: %w", err)
	}
	return s.Get(ctx, accountID, domainID)
}

// putSQL resets the state if the name changes, and schedules a check soon.
const putSQL = `
INSERT INTO tracking_hosts AS t (account_id, domain_id, host, status, due_at) VALUES ($1, $2, $3, 'pending', now() + interval '1 minute')
ON CONFLICT (domain_id) DO UPDATE SET account_id = $1, host = $3, status = 'pending', found = NULL, error = '', verified_at = NULL, last_checked_at = NULL,
       failing_since = NULL, due_at = now() + interval '1 minute', fence = t.fence + 1, created_at = now(), updated_at = now()
 WHERE t.host <> $3 OR t.account_id <> $1`

func (s *Service) storeHost(ctx context.Context, accountID, domainID, host string) error {
	_, err := s.db.SQL.ExecContext(ctx, putSQL, accountID, domainID, host)
	return err
}

// evictHolder frees a name that another account's domain now contains, if the domain of its holder was deleted
// or is not verified.
func (s *Service) evictHolder(ctx context.Context, host string) error {
	held, err := s.db.Ent.TrackingHost.Query().Where(trackinghost.Host(host)).Only(ctx)
	if err != nil {
		return ignoreMissing(err)
	}
	d, err := s.domains.Get(ctx, held.AccountID, held.DomainID)
	if err == nil && domains.CanSend(d.Status) {
		return nil
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	_, err = s.db.Ent.TrackingHost.Delete().Where(trackinghost.ID(held.ID), trackinghost.AccountID(held.AccountID),
		trackinghost.DomainID(held.DomainID)).Exec(ctx)
	return err
}

// parseHost returns the name to store, or a sentence fragment that describes the error.
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
		return "", fmt.Sprintf("must be a name below %s, such as links.%s", domain, domain)
	case label == "rp":
		return "", "cannot be the return path of the domain"
	case s.own[host]:
		return "", "cannot be a host of this service"
	}
	return host, ""
}

// Get returns the tracking host of a domain.
func (s *Service) Get(ctx context.Context, accountID, domainID string) (Host, error) {
	if _, err := s.domains.Get(ctx, accountID, domainID); err != nil {
		return Host{}, err
	}
	row, err := s.db.Ent.TrackingHost.Query().Where(trackinghost.AccountID(accountID), trackinghost.DomainID(domainID)).
		Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return Host{}, fault.NoSuch("tracking host of domain", domainID)
	case err != nil:
		return Host{}, fmt.Errorf("get tracking host: %w", err)
	}
	return s.withCertificate(ctx, row), nil
}

func (s *Service) withCertificate(ctx context.Context, row *ent.TrackingHost) Host {
	h := Host{TrackingHost: row, Target: dnscheck.ChooseTarget(s.config.ownTarget(row.DomainID), s.config.Target,
		row.Found, s.config.OwnTargets)}
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

// Delete deletes the tracking host of a domain. Links in sent mail keep working while its CNAME record exists
// and its certificate is valid.
func (s *Service) Delete(ctx context.Context, accountID, domainID string) error {
	if _, err := s.domains.Get(ctx, accountID, domainID); err != nil {
		return err
	}
	count, err := s.db.Ent.TrackingHost.Delete().
		Where(trackinghost.AccountID(accountID), trackinghost.DomainID(domainID)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete tracking host: %w", err)
	}
	if count == 0 {
		return fault.NoSuch("tracking host of domain", domainID)
	}
	return nil
}

// Verify checks the CNAME record now. A host that remains unverified is not an error; the result contains
// advice.
func (s *Service) Verify(ctx context.Context, accountID, domainID string) (Host, error) {
	h, err := s.Get(ctx, accountID, domainID)
	if err != nil {
		return Host{}, err
	}
	seen := s.lookUp(ctx, h.Host, h.DomainID)
	if err := ctx.Err(); err != nil {
		return Host{}, fmt.Errorf("verify tracking host: %w", err) // the caller cancelled the lookup
	}
	if err := s.storeChecks(ctx, []checkedHost{{job: job{host: h.TrackingHost}, seen: seen}}); err != nil {
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
