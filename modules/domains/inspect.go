package domains

import (
	"context"
	"fmt"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Inspection checks a domain's records without a running service.
type Inspection struct {
	Config    Config
	Resolver  *dnsx.Resolver
	DB        *db.DB      // if nil, only checks that need neither ownership nor keys
	Box       *secret.Box // with DB: opens the keys to sign a sample with each; if nil, keys are only compared
	Name      string
	AccountID string // with DB; if empty, the account that has verified the name, else the one that added it last
	Selector  string // without DB: the selector to check, if any
}

// Inspect performs the lookups of a check without storing anything. It fails if the master key does not open
// the keys of the domain.
func Inspect(ctx context.Context, in Inspection) ([]dnscheck.Inspected, error) {
	config := in.Config.withDefaults()
	name, reason := newReserved(config).parseName(in.Name)
	if reason != "" {
		return nil, fmt.Errorf("%q %s", in.Name, reason)
	}
	d := &ent.Domain{Name: name}
	if in.DB != nil {
		var err error
		if d, err = in.find(ctx, name); err != nil {
			return nil, err
		}
		if d.Seeded {
			return nil, fmt.Errorf("%q is a domain of the installation itself, whose records are never checked", name)
		}
	}
	signers, err := signing.OpenAll(in.Box, d)
	if err != nil {
		return nil, err
	}
	seen := in.checker().Inspect(ctx, expectedRecords(d, config.hosts()), signers)
	if in.DB == nil {
		seen = withoutOwnership(seen) // its value is only in the database
	}
	if in.DB == nil && in.Selector != "" {
		seen = append(seen, in.checker().InspectSelector(ctx, name, in.Selector))
	}
	return seen, nil
}

func (in Inspection) checker() dnscheck.Checker {
	return dnscheck.Checker{DNS: in.Resolver.WithoutCache(), Within: in.Config.withDefaults().CheckTimeout}
}

func withoutOwnership(seen []dnscheck.Inspected) []dnscheck.Inspected {
	return slices.DeleteFunc(seen, func(r dnscheck.Inspected) bool { return r.Purpose == dnscheck.Ownership })
}

func (in Inspection) find(ctx context.Context, name string) (*ent.Domain, error) {
	query := in.DB.Ent.Domain.Query().Where(domain.Name(name), domain.AccountIDNotNil()).
		WithKeys(signing.LoadListedKeys)
	if in.AccountID != "" {
		query.Where(domain.AccountID(in.AccountID))
	}
	rows, err := query.Order(ent.Desc(domain.FieldID)).All(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read domain: %w", err)
	case len(rows) == 0:
		return nil, fault.NoSuch("domain", name)
	}
	for _, row := range rows {
		if CanSend(row.Status) {
			return row, nil
		}
	}
	return rows[0], nil
}

// InspectSandbox checks the records of the sandbox domain, which the operator must publish. It returns no
// result before the first start of a service, which creates the domain.
func InspectSandbox(ctx context.Context, in Inspection) ([]dnscheck.Inspected, error) {
	d, err := in.DB.Ent.Domain.Query().Where(domain.Name(dnsx.CanonicalName(in.Config.SandboxDomain)),
		domain.AccountIDIsNil()).WithKeys(signing.LoadListedKeys).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read sandbox domain: %w", err)
	}
	return withoutOwnership(in.checker().Inspect(ctx, expectedRecords(d, in.Config.hosts()), nil)), nil
}
