package graph

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/limits"
	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/graph/transport"
	"github.com/postrider/postrider/graph/trusted"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

const moduleAccounts = "accounts" // its fields always exist

// Accounts reads accounts and their API keys.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
	Usage(ctx context.Context, accountID string) (accounts.Usage, error)
	Keys(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.APIKey], error)
	FilteredKeys(ctx context.Context, accountID string, f accounts.KeyFilter,
		r page.Request) (page.Page[*ent.APIKey], error)
	CountKeys(ctx context.Context, accountID string, f accounts.KeyFilter, most int) (int, error)
	Key(ctx context.Context, accountID, keyID string) (*ent.APIKey, error)
	KeysByID(ctx context.Context, accountID string, keyIDs ...string) ([]*ent.APIKey, error)
	// NamesOf returns the display names of members and API keys by ID.
	NamesOf(ctx context.Context, accountID string, ids ...string) (map[string]string, error)
}

// Domains reads sending domains.
type Domains interface {
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Domain], error)
	ListFiltered(ctx context.Context, accountID string, f domains.Filter,
		r page.Request) (page.Page[*ent.Domain], error)
	Count(ctx context.Context, accountID string, f domains.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
	Records(d *ent.Domain) []dnscheck.RecordCheck
	SandboxDomain() string
	GetMany(ctx context.Context, accountID string, domainIDs ...string) ([]*ent.Domain, error)
	Health(ctx context.Context, accountID string, first int, domainIDs ...string) (map[string][]*ent.DomainCheck, error)
}

// Deliverability summarizes the reports about domains.
type Deliverability interface {
	// SummarizeMany returns the summaries of the domains of the account among those IDs, by ID.
	SummarizeMany(ctx context.Context, accountID string, domainIDs ...string) (map[string]deliverability.Summary, error)
}

// Emails reads emails. The methods that take several IDs return results by email ID.
type Emails interface {
	List(ctx context.Context, accountID string, q records.ListQuery) (page.Page[*ent.Email], error)
	// ListScheduled returns scheduled emails, the next one first.
	ListScheduled(ctx context.Context, accountID string, domainIDs []string, r page.Request) (page.Page[*ent.Email], error)
	Count(ctx context.Context, accountID string, f records.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, emailID string) (*ent.Email, error)
	// GetMany returns the emails of the account among those IDs, oldest first.
	GetMany(ctx context.Context, accountID string, emailIDs ...string) ([]*ent.Email, error)
	// Bodies returns html and text, which List omits; other fields are not set.
	Bodies(ctx context.Context, accountID string, emailIDs ...string) (map[string]*ent.Email, error)
	// Snippets returns the first words of the emails that have a body.
	Snippets(ctx context.Context, accountID string, emailIDs ...string) (map[string]string, error)
	Recipients(ctx context.Context, accountID string, emailIDs ...string) (map[string][]*ent.Recipient, error)
	Attempts(ctx context.Context, accountID string, emailIDs ...string) (map[string][]*ent.Attempt, error)
	Attachments(ctx context.Context, accountID string, emailIDs ...string) (map[string][]*ent.Attachment, error)
	Timeline(ctx context.Context, accountID string, emailIDs ...string) (map[string][]event.Fact, error)
	DomainCounts(ctx context.Context, accountID string, days int,
		domainIDs ...string) (map[string]records.Counts, error)
}

// RawMail recomposes emails.
type RawMail interface {
	// Raw returns a message as its recipients received it, unsigned; nil if its bodies were deleted.
	Raw(ctx context.Context, accountID, emailID string) ([]byte, error)
}

// Queue reads and changes an account's part of the queue.
type Queue interface {
	QueueOf(ctx context.Context, accountID string, of queue.Selection, r page.Request) (page.Page[queue.Queued], error)
	CountOf(ctx context.Context, accountID string, of queue.Selection, most int) (int, error)
	BacklogOf(ctx context.Context, accountID string, of queue.Selection) ([]queue.Backlog, error)
	ChangeQueueOf(ctx context.Context, accountID string, c queue.AccountChange) (queue.Result, error)
}

var (
	_ admission.Keys = (*accounts.Service)(nil)
	_ Accounts       = (*accounts.Service)(nil)
	_ Domains        = (*domains.Service)(nil)
	_ RawMail        = (*compose.Composer)(nil)
	_ Emails         = (*records.Service)(nil)
	_ Queue          = (*queue.Service)(nil)
)

// Options are the dependencies of New.
type Options struct {
	On       []string // the modules that are switched on
	Auth     admission.Keys
	People   admission.Sessions  // signed-in users; nil: none
	Origins  []string            // URLs under which pages of this installation are served, the base URL first
	Rate     admission.RateLimit // nil: requests are not counted
	Accounts Accounts
	Parts    []ServiceSet       // services of the enabled modules, in any order
	Trusted  trusted.Documents  // queries that signed-in users can run
	Open     bool               // development mode: signed-in users can run any query
	Audit    transport.Recorder // records mutations; nil: none are recorded
	REST     http.Handler       // serves /api, whose operations carry out most mutations
	Proxies  []netip.Prefix     // proxies whose X-Forwarded-For is trusted
	Budget   *intake.Budget     // memory for bodies and large responses
	Logger   *slog.Logger
}

func (o Options) validate() error {
	var wrong []error
	if o.Accounts == nil {
		wrong = append(wrong, errors.New("graph: accounts are missing"))
	}
	if o.Budget == nil {
		wrong = append(wrong, errors.New("graph: budget is missing"))
	}
	if o.Auth == nil {
		wrong = append(wrong, errors.New("graph: authenticator is missing"))
	}
	if o.REST == nil {
		wrong = append(wrong, errors.New("graph: the REST API is missing"))
	}
	if o.Logger == nil {
		wrong = append(wrong, errors.New("graph: logger is missing"))
	}
	return errors.Join(wrong...)
}

// New returns the handler of /graphql, for any method.
func New(o Options) (http.Handler, error) {
	whole, err := schema.ParseFull()
	if err != nil {
		return nil, err
	}
	given := append(slices.Clone(o.Parts), ServiceSet{moduleAccounts, func(p *Parts) { p.Accounts = o.Accounts }})
	if err := errors.Join(append(missingParts(whole, o.On, given), o.validate())...); err != nil {
		return nil, err
	}
	schema.Prune(whole, o.On)
	root := &Resolver{on: o.On, rest: o.REST}
	for _, p := range given {
		p.Set(&root.parts)
	}
	exec := executor.New(generated.NewExecutableSchema(generated.Config{Schema: whole, Resolvers: root,
		Complexity: costs()}))
	errs := refusal.Presenter{Logger: o.Logger}
	exec.SetErrorPresenter(errs.Present)
	exec.SetRecoverFunc(errs.LogPanic)
	exec.SetParserTokenLimit(limits.Tokens)
	exec.SetQueryCache(lru.New[*ast.QueryDocument](limits.CachedQueries))
	exec.AroundFields(inquiry.CheckReach)
	exec.Use(limits.Shape{})
	exec.Use(extension.FixedComplexityLimit(limits.Complexity))
	exec.Use(extension.Introspection{})
	door, err := admission.New(o.Auth, o.People, o.Proxies, o.Origins...)
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	return transport.New(transport.Options{Door: door, Rate: o.Rate, Accounts: o.Accounts, Budget: o.Budget,
		Executor: exec, Trusted: o.Trusted, Pruned: o.Trusted.LimitTo(whole), Open: o.Open,
		Errors: errs, Audit: o.Audit, Proxies: o.Proxies, Logger: o.Logger}), nil
}
