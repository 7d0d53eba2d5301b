package domains

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Get returns one domain of the account.
func (s *Service) Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error) {
	accountID = id.HomeAccount(accountID)
	if !id.Is(id.Domain, domainID) { // some strings fail as a parameter: PostgreSQL does not accept NUL
		return nil, fault.NoSuch("domain", domainID)
	}
	found, err := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID), domain.ID(domainID)).
		WithKeys(signing.LoadListedKeys).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("domain", domainID)
	case err != nil:
		return nil, fmt.Errorf("get domain: %w", err)
	}
	return found, nil
}

// List returns one page of the account's domains, newest first. Error: Invalid.
func (s *Service) List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Domain], error) {
	return s.ListFiltered(ctx, accountID, Filter{}, r)
}

// ListFiltered returns one page of the account's domains that match a filter.
func (s *Service) ListFiltered(ctx context.Context, accountID string, f Filter,
	r page.Request) (page.Page[*ent.Domain], error) {
	accountID = id.HomeAccount(accountID)
	query, err := s.query(accountID, f)
	if err != nil {
		return page.Page[*ent.Domain]{}, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "domains", AccountID: accountID}, r.OrDefault(),
		query.WithKeys(signing.LoadListedKeys),
		func(d *ent.Domain) string { return d.ID })
}

// Count returns the number of the account's domains that match a filter, up to the limit most.
func (s *Service) Count(ctx context.Context, accountID string, f Filter, most int) (int, error) {
	accountID = id.HomeAccount(accountID)
	query, err := s.query(accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

// Filter narrows a list of domains. Empty fields match everything.
type Filter struct {
	Text    string // part of the name
	Status  domain.Status
	Inbound *bool // whether it receives mail
	IDs     []string
}

func (s *Service) query(accountID string, f Filter) (*ent.DomainQuery, error) {
	if err := fault.CheckTexts(map[string]string{"query": f.Text}); err != nil {
		return nil, err
	}
	query := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID))
	if f.Text != "" {
		query.Where(domain.NameContainsFold(f.Text))
	}
	if len(f.IDs) > 0 {
		query.Where(domain.IDIn(f.IDs...))
	}
	if f.Status != "" {
		query.Where(domain.StatusEQ(f.Status))
	}
	if f.Inbound != nil {
		query.Where(domain.InboundEnabled(*f.Inbound))
	}
	return query, nil
}

// Find returns the account's domain with the name or the id, for the operator.
func (s *Service) Find(ctx context.Context, accountID, nameOrID string) (*ent.Domain, error) {
	if id.Is(id.Domain, nameOrID) {
		return s.Get(ctx, accountID, nameOrID)
	}
	name, err := address.ParseDomain(nameOrID)
	if err != nil {
		return nil, fault.InvalidField("domain", "%s", err)
	}
	found, err := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID), domain.Name(name)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("domain", name)
	case err != nil:
		return nil, fmt.Errorf("find domain: %w", err)
	}
	return found, nil
}

// ExpectedRecords returns the records that the domain must publish. The domain must be loaded with its keys.
func (s *Service) ExpectedRecords(d *ent.Domain) dnscheck.Set {
	return expectedRecords(d, s.checks.hostsOf(d))
}

// hostsOf returns the host names for the records of a domain, with its address for reports.
func (s *checks) hostsOf(d *ent.Domain) dnscheck.Hosts {
	hosts := s.hosts
	if s.reports != nil && d.AccountID != nil {
		hosts.Reports = s.reports.Address(d.ID)
	}
	return hosts
}

func expectedRecords(d *ent.Domain, hosts dnscheck.Hosts) dnscheck.Set {
	// With an MX record that points here before the domain is verified, its mail would be lost.
	if !d.InboundEnabled || !CanSend(d.Status) {
		hosts.Inbound = ""
	}
	return dnscheck.NewSet(d, hosts)
}

// Checker returns the checker of DNS records.
func (s *Service) Checker() dnscheck.Checker { return s.checks.checker }

// Records returns the domain's DNS records with the results of the last check.
func (s *Service) Records(d *ent.Domain) []dnscheck.RecordCheck {
	return s.ExpectedRecords(d).RecordChecks(d)
}

// ZoneFile returns the domain's records as lines of a zone file. Error: NotFound.
func (s *Service) ZoneFile(ctx context.Context, accountID, domainID string) (string, error) {
	d, err := s.Get(ctx, accountID, domainID)
	if err != nil {
		return "", err
	}
	return dnscheck.ZoneFile(d, s.Records(d)), nil
}

// GetMany returns the domains with the given ids that belong to the account, in no particular order.
func (s *Service) GetMany(ctx context.Context, accountID string, domainIDs ...string) ([]*ent.Domain, error) {
	accountID = id.HomeAccount(accountID)
	found, err := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID), domain.IDIn(domainIDs...)).
		WithKeys(signing.LoadListedKeys).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read domains: %w", err)
	}
	return found, nil
}
