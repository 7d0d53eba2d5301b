package welcome

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
)

// OpenID is the part of the OpenID Connect provider that the pages use.
type OpenID interface {
	Name() string
	BeginLink(ctx context.Context, c accounts.Caller) (openid.AuthRequest, error)
}

var _ OpenID = (*openid.Service)(nil)

// problems explains why a sign-in with the provider failed, and what the user can do.
var problems = map[openid.SignInError]string{
	openid.ProviderUnavailable: "The provider is unavailable. Try again in a moment, or sign in another way.",
	openid.Busy:                "Too many people are signing in right now. Try again.",
	openid.InvalidState:        "This sign-in started in another browser, took longer than five minutes, or was already used. Start again in this browser.",
	openid.Refused:             "The provider rejected the sign-in, or you cancelled it. Start again, or sign in another way.",
	openid.Untrusted:           "The provider returned an invalid response. Try again. If the problem persists, ask the operator to check the log.",
	openid.NoEmail:             "The provider returned no usable email address. Add one there, or sign in another way.",
	openid.Unverified:          "The provider has not verified your email address. Verify it there, or sign in another way.",
	openid.Operator:            "This email address belongs to an operator. Sign in another way, then link the provider on this page.",
	openid.Unknown:             "No user has this email address. Ask an owner of your team to invite it.",
	openid.Disabled:            "Your user is disabled. Contact the operator of this installation.",
	openid.OtherSubject:        "Your user is linked to another account at the provider. Choose that account, or sign in another way and link this one.",
	openid.SubjectTaken:        "This provider account is linked to another user. Choose another account.",
	openid.SetUpFirst:          "Postrider is not set up yet. Use the setup link in its output; postrider admin setup-link prints it again.",
	openid.SignedOut:           "Your session has ended, so nothing was linked. Sign in and start again.",
	openid.Failed:              "Something went wrong. Try again in a moment.",
}

// providerResult adds the result of an OpenID Connect sign-in to the sign-in page.
func (p *pages) providerResult(r *http.Request, v view) view {
	word := openid.SignInError(r.URL.Query().Get(openid.Parameter))
	if v.Action != signin.PathSignIn || p.OpenID.Name() == "" {
		return v
	}
	if word == openid.Linked {
		v.About = "You can now sign in with " + p.OpenID.Name() + "."
	}
	v.Wrong = problems[word]
	return v
}

// linkOpenID starts linking the signed-in user to the provider. Our form-action would block a redirect to another
// site after a form (Content Security Policy Level 3 section 6.4.1), so the page shows a link.
func (p *pages) linkOpenID(r *http.Request) (done, error) {
	caller, err := p.door.Authenticate(r)
	if err != nil {
		return done{}, err
	}
	departure, err := p.OpenID.BeginLink(r.Context(), caller)
	if problem := openid.ProblemOf(err); err != nil && problem != openid.Failed {
		return done{goTo: signin.PathSignIn + "?" + openid.Parameter + "=" + string(problem)}, nil
	}
	if err != nil {
		return done{}, err
	}
	name := p.OpenID.Name()
	return done{title: "Link with " + name,
		lines: []string{"Continue to " + name +
			" within five minutes. You can then sign in with the account that you use there."},
		links: []link{{departure.URL, "Continue to " + name}}, cookie: departure.Cookie}, nil
}
