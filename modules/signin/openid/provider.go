package openid

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/web/egress"
)

const (
	requestTime   = 5 * time.Second  // of one request to the provider
	exchangeTime  = 12 * time.Second // of all that a sign-in asks it
	knownFor      = time.Hour        // until what was discovered is asked for again
	failureFor    = 2 * time.Second  // until a provider that was away is asked again
	flights       = 16               // sign-ins that may wait for the provider at once
	maxAnswer     = 1 << 20          // bytes of an answer
	maxFailureLog = 300              // bytes of an answer that are logged
)

// provider speaks with the provider. It is asked for nothing before somebody wants to sign in.
type provider struct {
	config  Config
	client  *http.Client
	turn    *limit.Semaphore // held during discovery
	flights *limit.Semaphore // held during an exchange

	mu      sync.Mutex
	known   *discovered
	askedAt time.Time
	failure error
}

// discovered is what a provider says of itself, and what follows from that.
type discovered struct {
	oauth       *oauth2.Config
	oidc        *oidc.Provider
	verifier    *oidc.IDTokenVerifier
	namesIssuer bool // it says who it is in each answer (RFC 9207)
	at          time.Time
}

// private is where an issuer may be beside public addresses. What is link-local stays refused: the
// metadata services of clouds are there.
func private() []netip.Prefix {
	var list []netip.Prefix
	for _, text := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "fc00::/7", "::1/128"} {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

type lookup func(ctx context.Context, host string) ([]netip.Addr, error)

func newProvider(c Config, find lookup) *provider {
	client := egress.NewClient(egress.ClientConfig{Guard: egress.NewGuard(private()), PlainLoopback: true, ConnectTimeout: requestTime, Timeout: requestTime, Lookup: find})
	client.Transport = bounded{client.Transport}
	return &provider{config: c, client: client, turn: limit.NewSemaphore(1, limit.Unbounded), flights: limit.NewSemaphore(flights, 0)}
}

// bounded cuts answers that are too long: the libraries read them whole.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxAnswer)
	}
	return res, err
}

// remembered returns what is known without asking, or why it is not known; neither: ask.
func (p *provider) remembered(now time.Time) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.known != nil && (now.Sub(p.known.at) < knownFor || now.Sub(p.askedAt) < failureFor):
		return p.known, nil
	case p.failure != nil && now.Sub(p.askedAt) < failureFor:
		return nil, p.failure
	}
	return nil, nil //nolint:nilnil // it is to be asked
}

// find returns what the provider says of itself; one asks at a time. What was known goes on being used
// while the provider is away. Error: Away.
func (p *provider) find(ctx context.Context) (*discovered, error) {
	if known, err := p.remembered(time.Now()); known != nil || err != nil {
		return known, err
	}
	if err := p.turn.Acquire(ctx); err != nil {
		return nil, refuseFor(Away, err)
	}
	defer p.turn.Release()
	if known, err := p.remembered(time.Now()); known != nil || err != nil {
		return known, err
	}
	found, err := p.discover(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.askedAt = time.Now()
	if err != nil {
		p.failure = refuseFor(Away, shortened(err))
		if p.known != nil {
			return p.known, nil
		}
		return nil, p.failure
	}
	p.known, p.failure = found, nil
	return found, nil
}

func (p *provider) discover(ctx context.Context) (*discovered, error) {
	// Others use the answer, so it must not end with the first caller.
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), p.client), requestTime)
	defer cancel()
	found, err := oidc.NewProvider(ctx, p.config.Issuer)
	if err != nil {
		return nil, err
	}
	var says struct {
		NamesIssuer bool `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&says); err != nil {
		return nil, err
	}
	return &discovered{oidc: found, namesIssuer: says.NamesIssuer, at: time.Now(), verifier: found.Verifier(&oidc.Config{ClientID: p.config.ClientID}),
		oauth: &oauth2.Config{ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret.Reveal(), Endpoint: found.Endpoint(),
			RedirectURL: p.config.BaseURL + PathCallback, Scopes: []string{oidc.ScopeOpenID, oidc.ScopeEmail, oidc.ScopeProfile}}}, nil
}

// address is where a browser is sent. Error: Away.
func (p *provider) address(ctx context.Context, state string, c codes) (string, error) {
	found, err := p.find(ctx)
	if err != nil {
		return "", err
	}
	return found.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(c.verifier), oidc.Nonce(c.nonce)), nil
}

// answer is what a browser brings back.
type answer struct{ code, issuer string }

// person exchanges a code for what the provider says of a person. Errors: Away, Busy, Untrusted.
func (p *provider) person(ctx context.Context, a answer, c codes) (claims, error) {
	if !p.flights.TryAcquire() {
		return claims{}, refuse(Busy)
	}
	defer p.flights.Release()
	found, err := p.find(ctx)
	if err != nil {
		return claims{}, err
	}
	if a.issuer != "" && a.issuer != p.config.Issuer || a.issuer == "" && found.namesIssuer {
		return claims{}, refuseFor(Untrusted, errors.New("the answer is of another issuer"))
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), exchangeTime)
	defer cancel()
	token, err := found.oauth.Exchange(ctx, a.code, oauth2.VerifierOption(c.verifier))
	if err != nil {
		return claims{}, exchangeFailed(err)
	}
	who, err := found.judge(ctx, token, c.nonce, p.config.ClientID)
	who.Issuer = p.config.Issuer // Google's tokens may leave https:// out
	return who, err
}

// exchangeFailed tells a provider that refuses a code from one that does not answer. Its words are not
// repeated: they may hold the code.
func exchangeFailed(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused):
		return refuseFor(Away, shortened(err))
	case refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError:
		return refuseFor(Away, fmt.Errorf("the token endpoint answers %d", refused.Response.StatusCode))
	}
	return refuseFor(Untrusted, fmt.Errorf("the token endpoint refuses the code: %.40q", refused.ErrorCode))
}

// judge checks a token (OpenID Connect Core 1.0 section 3.1.3.7) and reads what it says.
func (d *discovered) judge(ctx context.Context, token *oauth2.Token, nonce, clientID string) (who claims, err error) {
	raw, is := token.Extra("id_token").(string)
	if !is {
		return who, refuseFor(Untrusted, errors.New("there is no ID token"))
	}
	checked, err := d.verifier.Verify(ctx, raw)
	if err != nil {
		return who, refuseFor(Untrusted, shortened(err))
	}
	if err := checked.Claims(&who); err != nil {
		return who, refuseFor(Untrusted, shortened(err))
	}
	switch {
	case checked.Nonce != nonce:
		return who, refuseFor(Untrusted, errors.New("the ID token has another nonce"))
	case who.Subject == "":
		return who, refuseFor(Untrusted, errors.New("the ID token has no subject"))
	case who.Party != "" && who.Party != clientID, who.Party == "" && slices.ContainsFunc(checked.Audience, func(of string) bool { return of != clientID }):
		return who, refuseFor(Untrusted, errors.New("the ID token was made for another client"))
	case checked.AccessTokenHash != "" && checked.VerifyAccessToken(token.AccessToken) != nil:
		return who, refuseFor(Untrusted, errors.New("the access token does not belong to the ID token"))
	case who.Email == "" && d.oidc.UserInfoEndpoint() != "":
		return d.ask(ctx, token, who)
	}
	return who, nil
}

// ask completes a person from the UserInfo endpoint, where many providers tell the email. The subject
// must be the same (OpenID Connect Core 1.0 section 5.3.2).
func (d *discovered) ask(ctx context.Context, token *oauth2.Token, who claims) (claims, error) {
	info, err := d.oidc.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return who, refuseFor(Away, shortened(err))
	}
	var more claims
	if err := info.Claims(&more); err != nil {
		return who, refuseFor(Untrusted, shortened(err))
	}
	if more.Subject != who.Subject {
		return who, refuseFor(Untrusted, errors.New("UserInfo is about another subject"))
	}
	who.complete(more)
	return who, nil
}

// shortened is an error of the libraries, which repeat whole answers in it.
func shortened(err error) error {
	text := err.Error()
	return errors.New(text[:min(len(text), maxFailureLog)])
}
