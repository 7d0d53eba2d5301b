package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Resolver answers queries about zones and servers.
type Resolver interface {
	LookupZone(ctx context.Context, name string) (apex string, err error)
	LookupNS(ctx context.Context, name string) ([]string, error)
	LookupIP(ctx context.Context, name string) ([]netip.Addr, error)
}

var _ Resolver = (*dnsx.Resolver)(nil)

// Params contains the parameters of New.
type Params struct {
	Resolver  Resolver
	Guard     *egress.Guard
	Transport http.RoundTripper // default: the guarded transport of runtime/web/egress
}

// Service connects to providers. It is stateless and safe for concurrent use.
type Service struct {
	dns   Resolver
	guard *egress.Guard
	http  *http.Client

	retryPause time.Duration // before a request that failed temporarily is repeated
}

// New returns a new Service.
func New(p Params) (*Service, error) {
	if p.Resolver == nil || p.Guard == nil {
		return nil, errors.New("dnsprovider: Resolver and Guard are required")
	}
	s := &Service{dns: p.Resolver, guard: p.Guard, retryPause: time.Second,
		http: egress.NewClient(egress.ClientConfig{Guard: p.Guard, Timeout: 20 * time.Second})}
	if p.Transport != nil {
		s.http.Transport = p.Transport
	}
	return s, nil
}

// Location is the zone of a domain and its provider.
type Location struct {
	Zone        string   // without final dot; empty if no zone was found
	NameServers []string // without final dots, sorted
	Provider    string   // the provider that hosts the name servers; empty if unknown
	Supported   bool     // whether records can be applied through this provider
	Credentials []string // required credentials, if supported
}

// Locate finds the zone that contains a name, and its provider.
func (s *Service) Locate(ctx context.Context, name string) (Location, error) {
	found := Location{NameServers: []string{}, Credentials: []string{}}
	zone, err := s.dns.LookupZone(ctx, name)
	switch {
	case errors.Is(err, dnsx.ErrNotFound):
		return found, nil
	case err != nil:
		return found, noAnswer(err)
	}
	found.Zone = canonicalName(zone)
	hosts, err := s.dns.LookupNS(ctx, found.Zone)
	if err != nil && !errors.Is(err, dnsx.ErrNotFound) {
		return found, noAnswer(err)
	}
	for _, host := range hosts {
		found.NameServers = append(found.NameServers, canonicalName(host))
	}
	found.Provider = runBy(found.NameServers)
	if p := findProvider(found.Provider); p != nil {
		found.Supported, found.Credentials = true, p.names()
	}
	return found, nil
}

func noAnswer(err error) error {
	return (&fault.Error{Kind: fault.Upstream, Code: fault.CodeUpstream, Message: "The DNS resolver does not respond"}).
		WithCause(err)
}

// Check validates a provider's name and credentials without sending them anywhere.
func Check(name string, credentials map[string]secret.String) fault.Fields {
	wrong := fault.Fields{}
	p := findProvider(name)
	switch {
	case name == "":
		wrong.Add("provider", "is required: one of %s", strings.Join(Names(), ", "))
	case p == nil:
		wrong.Add("provider", "is not a supported provider; use one of %s", strings.Join(Names(), ", "))
	default:
		p.check(credentials, wrong)
	}
	return wrong
}

// Open returns a Zone that uses the credentials. It does not contact the provider yet.
func (s *Service) Open(ctx context.Context, name string, credentials map[string]secret.String,
	zone string) (*Zone, error) {
	if err := Check(name, credentials).Err(); err != nil {
		return nil, err
	}
	p := findProvider(name)
	values := p.check(credentials, fault.Fields{})
	z := &Zone{provider: p, scrub: p.scrubber(values), name: canonicalName(zone) + "."}
	var err error
	z.backend, err = p.open(ctx, s, values)
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return nil, err
	case err != nil:
		return nil, z.refusalError(ctx, "open", err)
	}
	return z, nil
}

// refusalError returns the only kind of error that this package returns: the provider's message, without the
// credentials. The cause is scrubbed as well, because it is logged.
func (z *Zone) refusalError(ctx context.Context, doing string, err error) error {
	said := z.scrub.clean(err.Error())
	message := fmt.Sprintf("The DNS provider %s rejected the request: %s", z.provider.name, said)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		message = fmt.Sprintf("The DNS provider %s did not respond in time", z.provider.name)
	}
	return (&fault.Error{Kind: fault.Upstream, Code: fault.CodeUpstream, Message: message}).
		WithCause(fmt.Errorf("%s %s at %s: %s", doing, z.name, z.provider.name, said))
}

func withApplied(err error, written []string) error {
	var refused *fault.Error
	if errors.As(err, &refused) {
		return refused.With("applied", written)
	}
	return err
}
