package session

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
)

// OpenID is the part of the outside provider that the operations use.
type OpenID interface {
	Name() string
	BeginSignIn(ctx context.Context, returnTo string) (openid.AuthRequest, error)
	BeginLink(ctx context.Context, c accounts.Caller) (openid.AuthRequest, error)
	HandleCallback(ctx context.Context, r openid.Callback) (openid.CallbackResult, error)
	ExpiredCookie() *http.Cookie
	Unlink(ctx context.Context, c accounts.Caller) error
}

var _ OpenID = (*openid.Service)(nil)

type providerRecord struct {
	Name string `json:"name" doc:"Display name of the provider." example:"Example"`
}

func newProviderRecord(name string) *providerRecord {
	if name == "" {
		return nil
	}
	return &providerRecord{name}
}

// sentOn is a response that redirects the browser.
type sentOn struct {
	Status   int
	Location string `header:"Location" doc:"URL that the browser is redirected to."`
}

func redirectTo(location string) *sentOn { return &sentOn{http.StatusFound, location} }

type begun struct {
	ReturnTo string `query:"return_to" doc:"Path of this installation to redirect to afterwards. Any other value is treated as /." example:"/"`
}

// returned are the parameters that the provider sends through the browser.
type returned struct {
	State   string `query:"state" doc:"The state from the start of the sign-in." example:"0fXk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqI"`
	Code    string `query:"code" doc:"The authorization code of the provider." example:"SplxlOBeZQQYbYS6WxSbIA"`
	Problem string `query:"error" doc:"The provider's error code, if it returns no authorization code." example:"access_denied"`
	Issuer  string `query:"iss" doc:"Issuer of the response (RFC 9207)." example:"https://id.example.com"`
	Cookies string `header:"Cookie" hidden:"true"`
}

type departureAnswer struct {
	URL string `json:"url" format:"uri" doc:"URL to redirect the browser to."`
}

func (e *edge) openID(g *api.TagGroup) {
	api.Raw(g, api.Operation{
		Method: http.MethodGet, Path: "/session/oidc", ID: "signInByOpenID", Public: true, Status: http.StatusFound,
		Problems: []int{http.StatusNotFound},
		Summary:  "Sign in with the OpenID Connect provider",
		Description: "Redirects a browser to the provider. Returns 404 if no provider is configured. Redirects to the sign-in " +
			"page if the provider is unavailable.",
	}, e.startProvider)
	api.Raw(g, api.Operation{
		Method: http.MethodGet, Path: "/session/oidc/callback", ID: "finishSignInByOpenID", Public: true,
		OpenQuery: true, Status: http.StatusFound, Problems: []int{http.StatusNotFound},
		Summary: "Complete the sign-in with the OpenID Connect provider",
		Description: "The redirect URI of the provider's client. Sets a session cookie and redirects to " +
			"`return_to`. If the sign-in fails, redirects to the sign-in page, which shows the reason. Works once, " +
			"within five minutes, in the browser that started the sign-in.",
	}, e.finishProvider)
}

func (e *edge) linkOpenID(g *api.TagGroup) {
	api.Handle(g, api.Operation{
		Method: http.MethodPost, Path: "/user/oidc", ID: "linkOpenID", Needs: rights.Person, Slow: true,
		Confirmed: true, Quiet: true, Problems: []int{http.StatusNotFound},
		Summary: "Start linking the OpenID Connect provider",
		Description: "Returns the `url` to open in the browser. The identity that the user signs in with there is linked and " +
			"replaces the previous one.",
		Example: map[string]any{"url": "https://id.example.com/authorize?client_id=postrider"},
	}, e.departToLink)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/user/oidc", ID: "unlinkOpenID", Needs: rights.Person, Slow: true,
		Confirmed: true, Audited: true,
		Summary: "Unlink the OpenID Connect provider",
		Description: "Unlinks the provider. The next sign-in through the provider can link it again if its email " +
			"is verified. " +
			"This ends all other sessions and invalidates all other links of the " +
			"user.", Example: map[string]any{"ok": true},
	}, e.unlinkProvider)
}

func (e *edge) startProvider(ctx context.Context, c *api.Call, in *begun) (*sentOn, error) {
	departure, err := e.outside.BeginSignIn(ctx, in.ReturnTo)
	if err != nil {
		return e.turnedAway(ctx, c, in.ReturnTo, err)
	}
	c.AddCookie(departure.Cookie)
	return redirectTo(departure.URL), nil
}

func (e *edge) departToLink(ctx context.Context, c *api.Call, _ *api.None) (departureAnswer, error) {
	departure, err := e.outside.BeginLink(ctx, c.Caller)
	var refusal *openid.Refusal
	switch {
	case errors.As(err, &refusal):
		return departureAnswer{}, (&fault.Error{Kind: fault.Upstream, Code: fault.CodeUpstream,
			Message: "The OpenID Connect provider is temporarily unavailable"}).WithCause(err)
	case err != nil:
		return departureAnswer{}, err
	}
	c.AddCookie(departure.Cookie)
	return departureAnswer{departure.URL}, nil
}

func (e *edge) finishProvider(ctx context.Context, c *api.Call, in *returned) (*sentOn, error) {
	arrival, err := e.outside.HandleCallback(ctx, openid.Callback{State: in.State, Code: in.Code, Problem: in.Problem,
		Issuer: in.Issuer, Cookies: in.Cookies, Caller: c.Caller})
	if err != nil {
		return e.turnedAway(ctx, c, arrival.ReturnTo, err)
	}
	c.AddCookie(e.outside.ExpiredCookie())
	if arrival.Entered != nil {
		c.SetCookie(arrival.Entered.Token.Reveal())
		c.SetDevice(arrival.Entered.DeviceCookie)
	}
	return redirectTo(arrival.ReturnTo), nil
}

func (e *edge) unlinkProvider(ctx context.Context, c *api.Call, _ *api.None) (api.OkAnswer, error) {
	return api.OkAnswer{OK: true}, e.outside.Unlink(ctx, c.Caller)
}

// turnedAway redirects a user whose sign-in failed to the page that explains the reason. After another sign-in, that
// page still leads to returnTo. Without a provider, turnedAway returns the error as other operations do.
func (e *edge) turnedAway(ctx context.Context, c *api.Call, returnTo string, err error) (*sentOn, error) {
	if e.outside.Name() == "" {
		return nil, c.Fail(ctx, err)
	}
	problem := openid.ProblemOf(err)
	if problem == openid.Failed {
		c.Fail(ctx, err) //nolint:errcheck // it is for the log
	}
	return redirectTo(signin.PagePath(returnTo, url.Values{openid.Parameter: {string(problem)}})), nil
}
