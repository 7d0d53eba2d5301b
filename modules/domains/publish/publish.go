package publish

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/dnsprovider"
	"github.com/postrider/postrider/runtime/web/egress"
)

// applyTimeout limits the time for all calls to a provider.
const applyTimeout = time.Minute

// Domains provides domains and their expected records.
type Domains interface {
	// Get returns one domain of the account. Error: NotFound.
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
	// ExpectedRecords returns the records that the domain must publish.
	ExpectedRecords(d *ent.Domain) dnscheck.Set
	// Checker looks up records.
	Checker() dnscheck.Checker
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Domains  Domains
	Resolver *dnsx.Resolver
	Guard    *egress.Guard
}

// Service publishes the records of domains at their DNS providers. It is safe for concurrent use.
type Service struct {
	domains   Domains
	checker   dnscheck.Checker
	providers *dnsprovider.Service
}

// New returns a new Service, which has no state.
func New(p Params) (*Service, error) {
	providers, err := dnsprovider.New(dnsprovider.Params{Resolver: p.Resolver.WithoutCache(), Guard: p.Guard})
	if err != nil {
		return nil, err
	}
	return &Service{domains: p.Domains, checker: p.Domains.Checker(), providers: providers}, nil
}

// Provider is the DNS provider of a domain's zone.
type Provider struct {
	Name        string   // empty if unknown
	Supported   bool     // whether Apply supports the provider
	Zone        string   // empty if no zone was found
	NameServers []string // name servers of the zone, without final dots
	Credentials []string // the credentials that Apply requires, by name
}

// Provider determines the DNS provider of a domain's zone from its name servers.
func (s *Service) Provider(ctx context.Context, accountID, domainID string) (Provider, error) {
	d, err := s.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Provider{}, err
	}
	found, err := s.locate(ctx, d.Name)
	if err != nil {
		return Provider{}, err
	}
	return Provider{Name: found.Provider, Supported: found.Supported, Zone: found.Zone, NameServers: found.NameServers,
		Credentials: found.Credentials}, nil
}

func (s *Service) locate(ctx context.Context, name string) (dnsprovider.Location, error) {
	ctx, cancel := context.WithTimeout(ctx, s.checker.Within)
	defer cancel()
	return s.providers.Locate(ctx, name)
}

// Providers lists the providers that Apply supports.
func Providers() []string { return dnsprovider.Names() }

// Credential is one field of a provider's credentials.
type Credential struct {
	Name, About string
	Optional    bool
}

// CredentialsOf lists the credentials that Apply requires for a provider.
func CredentialsOf(provider string) []Credential {
	var list []Credential
	for _, c := range dnsprovider.Credentials(provider) {
		list = append(list, Credential{Name: c.Name, About: c.About, Optional: c.Optional})
	}
	return list
}

// ProviderCredentials are the credentials of a provider by name. They print as redacted.
type ProviderCredentials map[string]secret.String

// Set stores one credential.
func (c ProviderCredentials) Set(name, value string) { c[name] = secret.New(value) }

// ApplyInput is the input of Apply.
type ApplyInput struct {
	Provider    string
	Credentials ProviderCredentials
	DryRun      bool
	// DMARC is a DMARC record that replaces the existing one. If set, no other record is written.
	DMARC string
}

// Validate reports every invalid field, including missing and unknown credentials.
func (in ApplyInput) Validate() fault.Fields {
	wrong := dnsprovider.Check(in.Provider, in.Credentials)
	if in.DMARC == "" {
		return wrong
	}
	if reason := dnscheck.RefuseDMARC(in.DMARC); reason != "" {
		wrong.Add("dmarc_record", "%s", reason)
	}
	return wrong
}

// RecordChange is the actual or planned change of a record.
type RecordChange struct {
	dnscheck.RecordCheck

	Write  string   // the published value: the record's, or a merged SPF record
	Before []string // existing values of the type at the name
	After  []string
	Reason string // for a conflict: one sentence on what to do
}

// Result is the result of Apply. Each record of the domain is in exactly one list.
type Result struct {
	Applied, Unchanged, Conflicts []RecordChange
}

// Apply publishes the records of a domain through its DNS provider; a dry run only returns the planned changes.
// Existing records are never overwritten: they are conflicts, except that our include is added to an SPF record.
// Apply is idempotent. The credentials are not stored.
func (s *Service) Apply(ctx context.Context, accountID, domainID string, in ApplyInput) (Result, error) {
	if err := in.Validate().Err(); err != nil {
		return Result{}, err
	}
	d, err := s.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	location, err := s.locate(ctx, d.Name)
	if err != nil {
		return Result{}, err
	}
	if location.Zone == "" {
		return Result{}, fault.Conflictf(fault.CodeConflict,
			"No DNS zone exists for %s: first register the domain or delegate it to a name server", d.Name)
	}
	zone, err := s.providers.Open(ctx, in.Provider, in.Credentials, location.Zone)
	if err != nil {
		return Result{}, err
	}
	expected := s.domains.ExpectedRecords(d)
	records := expected.RecordChecks(d)
	wanted := wantedRecords(records, expected.SPFInclude())
	if in.DMARC != "" {
		wanted = chosenPolicy(wanted, in.DMARC)
	}
	plan, err := zone.Plan(ctx, wanted)
	if err != nil {
		return Result{}, err
	}
	plan = plan.Refuse(func(i dnsprovider.Item) string { return s.doubtSPF(ctx, expected, i) })
	if !in.DryRun {
		if plan, err = zone.Apply(ctx, plan); err != nil {
			return Result{}, err
		}
	}
	return Result{Applied: changes(records, plan.Applied), Unchanged: changes(records, plan.Unchanged),
		Conflicts: changes(records, plan.Conflicts)}, nil
}

// wantedRecords returns the records with their rules for existing records. include is the host to add to an
// existing SPF record.
func wantedRecords(records []dnscheck.RecordCheck, include string) []dnsprovider.Wanted {
	rules := map[dnscheck.Purpose]dnsprovider.Rule{dnscheck.Ownership: dnsprovider.Additional,
		dnscheck.SPF: dnsprovider.MergeSPF, dnscheck.DMARC: dnsprovider.KeepPolicy,
		dnscheck.TLSReports: dnsprovider.KeepPolicy}
	wanted := make([]dnsprovider.Wanted, 0, len(records))
	for _, r := range records {
		w := dnsprovider.Wanted{Purpose: string(r.Purpose), Rule: dnsprovider.Alone, Include: include,
			Record: dnsprovider.Record{Type: r.Type, Name: r.Name, Value: r.Value,
				TTL: time.Duration(r.TTL) * time.Second}}
		if rule, found := rules[r.Purpose]; found {
			w.Rule = rule
		}
		if r.Priority != nil {
			w.Priority = uint16(*r.Priority)
		}
		wanted = append(wanted, w)
	}
	return wanted
}

// chosenPolicy returns only the DMARC record, with the value that the caller chose.
func chosenPolicy(wanted []dnsprovider.Wanted, record string) []dnsprovider.Wanted {
	only := []dnsprovider.Wanted{}
	for _, w := range wanted {
		if w.Purpose == string(dnscheck.DMARC) {
			w.Value, w.Rule = record, dnsprovider.ReplacePolicy
			only = append(only, w)
		}
	}
	return only
}

// doubtSPF evaluates a merged SPF record like a receiver does: its includes may use up the lookups before
// ours is reached. An unanswered lookup is not an objection.
func (s *Service) doubtSPF(ctx context.Context, expected dnscheck.Set, i dnsprovider.Item) string {
	if dnscheck.Purpose(i.Purpose) != dnscheck.SPF || i.Write == i.Value {
		return ""
	}
	return s.checker.SPFAdvice(ctx, expected, i.Write)
}

// changes converts plan items into changes of the corresponding records.
func changes(records []dnscheck.RecordCheck, items []dnsprovider.Item) []RecordChange {
	list := make([]RecordChange, 0, len(items))
	for _, i := range items {
		for _, r := range records {
			if string(r.Purpose) == i.Purpose && dnsx.CanonicalName(r.Name) == i.Name && r.Type == i.Type {
				list = append(list, RecordChange{RecordCheck: r, Write: i.Write, Before: i.Before, After: i.After,
					Reason: i.Reason})
				break
			}
		}
	}
	return list
}
