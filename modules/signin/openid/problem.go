package openid

import "errors"

// Parameter is the query parameter that carries a Problem to the sign-in page.
const Parameter = "openid"

// Problem is the reason why a sign-in with the provider failed. The sign-in page shows a sentence for each.
type Problem string

// Problems of a sign-in with the provider.
const (
	Away       Problem = "away"       // the provider is unavailable
	Busy       Problem = "busy"       // too many concurrent sign-ins
	Lost       Problem = "lost"       // the callback is for another browser, too old, or already used
	Refused    Problem = "refused"    // the provider returned an error
	Untrusted  Problem = "untrusted"  // the provider's response is invalid
	NoEmail    Problem = "no_email"   // the provider sent no valid email
	Unverified Problem = "unverified" // the provider has not verified the email
	Operator   Problem = "operator"   // the email belongs to an operator
	Unknown    Problem = "unknown"    // the email has neither a user nor an invitation
	Disabled   Problem = "disabled"   // the user is disabled
	Other      Problem = "other"      // the user is linked to another subject of the provider
	Taken      Problem = "taken"      // the subject belongs to another user
	SetUpFirst Problem = "set_up"     // the installation has no first user yet
	SignedOut  Problem = "signed_out" // the user who started the link is no longer signed in
	Failed     Problem = "failed"     // internal error
	Linked     Problem = "linked"     // not a failure: the provider is linked
)

// Refusal is an error with a Problem. Its cause is only logged.
type Refusal struct { //nolint:errname // shown to users as a refusal
	Problem Problem
	cause   error
}

func (r *Refusal) Error() string {
	if r.cause == nil {
		return "sign-in by OpenID Connect: " + string(r.Problem)
	}
	return "sign-in by OpenID Connect: " + string(r.Problem) + ": " + r.cause.Error()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.cause }

// Refused reports whether the user was refused, in contrast to a temporary or internal failure.
func (r *Refusal) Refused() bool {
	return r.Problem != Away && r.Problem != Busy && r.Problem != Failed
}

func refuse(p Problem) error { return &Refusal{Problem: p} }

func refuseFor(p Problem, cause error) error { return &Refusal{p, cause} }

// ProblemOf returns the problem of an error, or Failed for other errors.
func ProblemOf(err error) Problem {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Problem
	}
	return Failed
}
