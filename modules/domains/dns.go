package domains

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/dnsprovider"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/secret"
)

// applyTimeout is how long a provider may take for everything.
const applyTimeout = time.Minute

// PublisherParams of NewPublisher.
type PublisherParams struct {
	fx.In

	Domains  *Service
	Resolver *dnsx.Resolver
	Guard    *egress.Guard
}

// Publisher puts the records of domains where their zones are kept.
type Publisher struct {
	domains   *Service
	providers *dnsprovider.Service
}

// NewPublisher makes the publisher, which keeps nothing.
func NewPublisher(p PublisherParams) (*Publisher, error) {
	providers, err := dnsprovider.New(dnsprovider.Params{Resolver: p.Resolver.Uncached(), Guard: p.Guard})
	if err != nil {
		return nil, err
	}
	return &Publisher{domains: p.Domains, providers: providers}, nil
}

// DNSProvider is who runs the zone of a domain.
type DNSProvider struct {
	Name        string   // empty: nobody known
	Supported   bool     // whether records can be applied there
	Zone        string   // empty: no zone was found
	NameServers []string // of the zone, without final dots
	Credentials []string // what Apply takes for it, by name
}

// Provider finds who runs the zone of a domain, from its name servers.
func (p *Publisher) Provider(ctx context.Context, accountID, domainID string) (DNSProvider, error) {
	d, err := p.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return DNSProvider{}, err
	}
	found, err := p.locate(ctx, d.Name)
	if err != nil {
		return DNSProvider{}, err
	}
	return DNSProvider{Name: found.Provider, Supported: found.Supported, Zone: found.Zone, NameServers: found.NameServers, Credentials: found.Credentials}, nil
}

func (p *Publisher) locate(ctx context.Context, name string) (dnsprovider.Location, error) {
	ctx, cancel := context.WithTimeout(ctx, p.domains.config.CheckTimeout)
	defer cancel()
	return p.providers.Locate(ctx, name)
}

// DNSProviders lists the providers that Apply knows.
func DNSProviders() []string { return dnsprovider.Names() }

// DNSCredential is one field of what a provider wants to know.
type DNSCredential struct {
	Name, About string
	Optional    bool
}

// DNSCredentials lists what Apply takes for a provider.
func DNSCredentials(provider string) []DNSCredential {
	var list []DNSCredential
	for _, c := range dnsprovider.Credentials(provider) {
		list = append(list, DNSCredential{Name: c.Name, About: c.About, Optional: c.Optional})
	}
	return list
}

// Credentials of a provider by name. They print as redacted.
type Credentials map[string]secret.String

// Set takes one into custody.
func (c Credentials) Set(name, value string) { c[name] = secret.New(value) }

// ApplyInput is the input of Apply.
type ApplyInput struct {
	Provider    string
	Credentials Credentials
	DryRun      bool
}

// Validate reports every wrong field, missing and unknown credentials included.
func (in ApplyInput) Validate() fault.Fields { return dnsprovider.Check(in.Provider, in.Credentials) }

// RecordChange is what became, or would become, of one record.
type RecordChange struct {
	Record
	Write  string   // the value published: the record's, or a merged SPF record
	Before []string // values of the type at the name
	After  []string
	Reason string // of a conflict: one sentence on what to do
}

// Applied is the outcome of Apply. Every record of the domain is in one list.
type Applied struct {
	Applied, Unchanged, Conflicts []RecordChange
}

// Apply publishes the records of a domain through its DNS provider; a dry run
// only says what it would do. What is there is never overwritten: it is a
// conflict, except that an SPF record gets our include. Doing it twice changes
// nothing the second time. The credentials are not kept.
func (p *Publisher) Apply(ctx context.Context, accountID, domainID string, in ApplyInput) (Applied, error) {
	if err := in.Validate().Err(); err != nil {
		return Applied{}, err
	}
	d, err := p.domains.Get(ctx, accountID, domainID)
	if err != nil {
		return Applied{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	location, err := p.locate(ctx, d.Name)
	if err != nil {
		return Applied{}, err
	}
	if location.Zone == "" {
		return Applied{}, fault.Conflictf(fault.CodeConflict, "There is no zone for %s in DNS: register the domain, or delegate it to a name server, first", d.Name)
	}
	zone, err := p.providers.Open(ctx, in.Provider, in.Credentials, location.Zone)
	if err != nil {
		return Applied{}, err
	}
	e := p.domains.expect(d)
	records := p.domains.Records(d)
	plan, err := zone.Plan(ctx, e.wanted(records))
	if err != nil {
		return Applied{}, err
	}
	plan = plan.Refuse(func(i dnsprovider.Item) string { return p.doubtSPF(ctx, e, i) })
	if !in.DryRun {
		if plan, err = zone.Apply(ctx, plan); err != nil {
			return Applied{}, err
		}
	}
	return Applied{Applied: changes(records, plan.Applied), Unchanged: changes(records, plan.Unchanged), Conflicts: changes(records, plan.Conflicts)}, nil
}

// wanted gives the records with the rule by which each gets on with others.
func (e expectation) wanted(records []Record) []dnsprovider.Wanted {
	rules := map[Purpose]dnsprovider.Rule{Ownership: dnsprovider.Beside, SPF: dnsprovider.MergeSPF, DMARC: dnsprovider.KeepDMARC}
	wanted := make([]dnsprovider.Wanted, 0, len(records))
	for _, r := range records {
		w := dnsprovider.Wanted{Purpose: string(r.Purpose), Rule: dnsprovider.Alone, Include: e.spfInclude,
			Record: dnsprovider.Record{Type: r.Type, Name: r.Name, Value: r.Value, TTL: time.Duration(r.TTL) * time.Second}}
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

// doubtSPF evaluates a merged SPF record as a receiver would: its includes may
// use up the look-ups before ours is reached. No answer is no objection.
func (p *Publisher) doubtSPF(ctx context.Context, e expectation, i dnsprovider.Item) string {
	if Purpose(i.Purpose) != SPF || i.Write == i.Value {
		return ""
	}
	seen, err := compareSPF(ctx, e, []string{i.Write}, p.domains.dns)
	if err != nil {
		return ""
	}
	return seen.advice
}

// changes shows plan items as the records they are about.
func changes(records []Record, items []dnsprovider.Item) []RecordChange {
	list := make([]RecordChange, 0, len(items))
	for _, i := range items {
		for _, r := range records {
			if string(r.Purpose) == i.Purpose && canonical(r.Name) == i.Name && r.Type == i.Type {
				list = append(list, RecordChange{Record: r, Write: i.Write, Before: i.Before, After: i.After, Reason: i.Reason})
				break
			}
		}
	}
	return list
}
