package welcome

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
)

// OpenID is what the pages need of the outside provider.
type OpenID interface {
	Name() string
	BeginLink(ctx context.Context, c accounts.Caller) (openid.Departure, error)
}

var _ OpenID = (*openid.Service)(nil)

// problems say why somebody did not get in by the provider, and what they can do.
var problems = map[openid.Problem]string{
	openid.Away:       "The provider cannot be reached right now. Try again in a moment, or use another way to sign in.",
	openid.Busy:       "Many people are signing in at this moment. Try again.",
	openid.Lost:       "This sign-in was begun in another browser, took longer than five minutes, or was used already. Begin again, and stay in this browser.",
	openid.Refused:    "The provider did not let you in, or you went back. Begin again, or use another way to sign in.",
	openid.Untrusted:  "What the provider answered is not in order, so it does not count. Try again; if it stays so, the operator finds the reason in the log of the service.",
	openid.NoEmail:    "The provider tells no email of you that can be used here. Give yours there, or use another way to sign in.",
	openid.Unverified: "The provider has not verified your email, so it does not count here. Have it verified there, or use another way to sign in.",
	openid.Operator:   "An operator of this installation has your email. Use another way to sign in, then link the provider on this page.",
	openid.Unknown:    "Nobody here has the email that the provider tells of you. Ask an owner of your team for an invitation to that email.",
	openid.Disabled:   "Your user is disabled here. Ask the operator of this installation.",
	openid.Other:      "Your user is linked with another account at the provider. Choose that one there, or use another way to sign in and link this one.",
	openid.Taken:      "This account at the provider belongs to another user here. Choose another one there.",
	openid.SetUpFirst: "Nobody has set this installation up yet. Use the link that the output of the service shows; postrider setup-link prints it again.",
	openid.SignedOut:  "You are not signed in any more, so nothing was linked. Sign in and begin again.",
	openid.Failed:     "Something went wrong here. Try again in a moment.",
}

// back tells somebody who comes back from the provider what came of it.
func (p *pages) back(r *http.Request, v view) view {
	word := openid.Problem(r.URL.Query().Get(openid.Parameter))
	if v.Action != signin.PathSignIn || p.OpenID.Name() == "" {
		return v
	}
	if word == openid.Linked {
		v.About = "You are linked with " + p.OpenID.Name() + ", and can sign in by it from now on."
	}
	v.Wrong = problems[word]
	return v
}

// linkOpenID begins to link who is signed in with the provider. A browser that is sent elsewhere by the
// answer to a form would be stopped by our form-action (Content Security Policy Level 3 section
// 6.4.1), so the way on is a link.
func (p *pages) linkOpenID(r *http.Request) (done, error) {
	caller, err := p.door.Who(r)
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
	return done{title: "Link with " + name, lines: []string{"Go on to " + name + " within five minutes. Who you are there signs you in here from then on."},
		links: []link{{departure.URL, "Go on to " + name}}, cookie: departure.Cookie}, nil
}
