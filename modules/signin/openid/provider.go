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
	requestTime   = 5 * time.Second  // timeout of one request to the provider
	exchangeTime  = 12 * time.Second // timeout of all requests of a sign-in
	knownFor      = time.Hour        // lifetime of the discovery document
	failureFor    = 2 * time.Second  // before discovery is retried after a failure
	flights       = 16               // concurrent sign-ins that wait for the provider
	maxAnswer     = 1 << 20          // bytes of a response
	maxFailureLog = 300              // bytes of an error that are logged
)

// provider is the client of the OpenID Connect provider. It sends no request before the first sign-in.
type provider struct {
	config  Config
	client  *http.Client
	turn    *limit.Semaphore // held during discovery
	flights *limit.Semaphore // held during an exchange

	mu      sync.Mutex
	known   *discovery
	askedAt time.Time
	failure error
}

// discovery holds the provider's discovery document and the clients built from it.
type discovery struct {
	oauth       *oauth2.Config
	oidc        *oidc.Provider
	verifier    *oidc.IDTokenVerifier
	namesIssuer bool // the provider sends iss in each callback (RFC 9207)
	at          time.Time
}

// privateNetworks returns the networks where an issuer may be, in addition to public addresses. Link-local addresses
// stay blocked, because clouds serve their metadata there.
func privateNetworks() []netip.Prefix {
	var list []netip.Prefix
	for _, text := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8",
		"fc00::/7", "::1/128"} {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

type lookupFunc func(ctx context.Context, host string) ([]netip.Addr, error)

func newProvider(c Config, find lookupFunc) *provider {
	client := egress.NewClient(egress.ClientConfig{Guard: egress.NewGuard(privateNetworks()), PlainLoopback: true,
		ConnectTimeout: requestTime, Timeout: requestTime, Lookup: find})
	client.Transport = boundedTransport{client.Transport}
	return &provider{config: c, client: client, turn: limit.NewSemaphore(1, limit.Unbounded),
		flights: limit.NewSemaphore(flights, 0)}
}

// boundedTransport limits the size of responses, because the libraries read them completely.
type boundedTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxAnswer)
	}
	return res, err
}

// cachedDiscovery returns the cached discovery result or error, or neither if discovery is due.
func (p *provider) cachedDiscovery(now time.Time) (*discovery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.known != nil && (now.Sub(p.known.at) < knownFor || now.Sub(p.askedAt) < failureFor):
		return p.known, nil
	case p.failure != nil && now.Sub(p.askedAt) < failureFor:
		return nil, p.failure
	}
	return nil, nil //nolint:nilnil // neither: discovery is due
}

// ensureDiscovered returns the discovery result. Only one discovery runs at a time. While the provider is
// unavailable, the earlier result stays in use. Error: Unavailable.
func (p *provider) ensureDiscovered(ctx context.Context) (*discovery, error) {
	if known, err := p.cachedDiscovery(time.Now()); known != nil || err != nil {
		return known, err
	}
	if err := p.turn.Acquire(ctx); err != nil {
		return nil, refuseFor(ProviderUnavailable, err)
	}
	defer p.turn.Release()
	if known, err := p.cachedDiscovery(time.Now()); known != nil || err != nil {
		return known, err
	}
	found, err := p.discover(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.askedAt = time.Now()
	if err != nil {
		p.failure = refuseFor(ProviderUnavailable, truncateError(err))
		if p.known != nil {
			return p.known, nil
		}
		return nil, p.failure
	}
	p.known, p.failure = found, nil
	return found, nil
}

func (p *provider) discover(ctx context.Context) (*discovery, error) {
	// Other callers share the result, so it must not end with the first caller.
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
	return &discovery{oidc: found, namesIssuer: says.NamesIssuer, at: time.Now(),
		verifier: found.Verifier(&oidc.Config{ClientID: p.config.ClientID}),
		oauth: &oauth2.Config{ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret.Reveal(),
			Endpoint:    found.Endpoint(),
			RedirectURL: p.config.BaseURL + PathCallback,
			Scopes:      []string{oidc.ScopeOpenID, oidc.ScopeEmail, oidc.ScopeProfile}}}, nil
}

// buildSignInURL returns the URL of the provider's sign-in page. Error: Unavailable.
func (p *provider) buildSignInURL(ctx context.Context, state string, c codes) (string, error) {
	found, err := p.ensureDiscovered(ctx)
	if err != nil {
		return "", err
	}
	return found.oauth.AuthCodeURL(state, oauth2.S256ChallengeOption(c.verifier), oidc.Nonce(c.nonce)), nil
}

// callbackAnswer is the provider's response in the callback.
type callbackAnswer struct{ code, issuer string }

// exchangeCode exchanges a code for the user's claims. Errors: Unavailable, Busy, Untrusted.
func (p *provider) exchangeCode(ctx context.Context, a callbackAnswer, c codes) (claims, error) {
	if !p.flights.TryAcquire() {
		return claims{}, refuse(Busy)
	}
	defer p.flights.Release()
	found, err := p.ensureDiscovered(ctx)
	if err != nil {
		return claims{}, err
	}
	if a.issuer != "" && a.issuer != p.config.Issuer || a.issuer == "" && found.namesIssuer {
		return claims{}, refuseFor(Untrusted, errors.New("the response is from another issuer"))
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), exchangeTime)
	defer cancel()
	token, err := found.oauth.Exchange(ctx, a.code, oauth2.VerifierOption(c.verifier))
	if err != nil {
		return claims{}, classifyExchangeError(err)
	}
	who, err := found.validateToken(ctx, token, c.nonce, p.config.ClientID)
	who.Issuer = p.config.Issuer // Google's tokens may omit https://
	return who, err
}

// classifyExchangeError distinguishes a rejected code from an unavailable provider. It does not repeat the
// provider's message, which may contain the code.
func classifyExchangeError(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused):
		return refuseFor(ProviderUnavailable, truncateError(err))
	case refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError:
		return refuseFor(ProviderUnavailable,
			fmt.Errorf("the token endpoint returned status %d", refused.Response.StatusCode))
	}
	return refuseFor(Untrusted, fmt.Errorf("the token endpoint rejected the code: %.40q", refused.ErrorCode))
}

// validateToken validates a token (OpenID Connect Core 1.0 section 3.1.3.7) and returns its claims.
func (d *discovery) validateToken(ctx context.Context, token *oauth2.Token, nonce,
	clientID string) (who claims, err error) {
	raw, is := token.Extra("id_token").(string)
	if !is {
		return who, refuseFor(Untrusted, errors.New("the response has no ID token"))
	}
	checked, err := d.verifier.Verify(ctx, raw)
	if err != nil {
		return who, refuseFor(Untrusted, truncateError(err))
	}
	if err := checked.Claims(&who); err != nil {
		return who, refuseFor(Untrusted, truncateError(err))
	}
	switch {
	case checked.Nonce != nonce:
		return who, refuseFor(Untrusted, errors.New("the ID token has another nonce"))
	case who.Subject == "":
		return who, refuseFor(Untrusted, errors.New("the ID token has no subject"))
	case who.Party != "" && who.Party != clientID, who.Party == "" &&
		slices.ContainsFunc(checked.Audience, func(of string) bool { return of != clientID }):
		return who, refuseFor(Untrusted, errors.New("the ID token was issued for another client"))
	case checked.AccessTokenHash != "" && checked.VerifyAccessToken(token.AccessToken) != nil:
		return who, refuseFor(Untrusted, errors.New("the access token does not belong to the ID token"))
	case who.Email == "" && d.oidc.UserInfoEndpoint() != "":
		return d.fetchUserInfo(ctx, token, who)
	}
	return who, nil
}

// fetchUserInfo adds claims from the UserInfo endpoint, where many providers return the email. The subject must match
// (OpenID Connect Core 1.0 section 5.3.2).
func (d *discovery) fetchUserInfo(ctx context.Context, token *oauth2.Token, who claims) (claims, error) {
	info, err := d.oidc.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return who, refuseFor(ProviderUnavailable, truncateError(err))
	}
	var more claims
	if err := info.Claims(&more); err != nil {
		return who, refuseFor(Untrusted, truncateError(err))
	}
	if more.Subject != who.Subject {
		return who, refuseFor(Untrusted, errors.New("UserInfo is about another subject"))
	}
	who.addUserInfo(more)
	return who, nil
}

// truncateError truncates an error of the libraries, which include whole responses.
func truncateError(err error) error {
	text := err.Error()
	return errors.New(text[:min(len(text), maxFailureLog)])
}
