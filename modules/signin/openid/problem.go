package openid

import "errors"

// Parameter is the query parameter that tells the sign-in page of a Problem.
const Parameter = "openid"

// Problem is the reason why a sign-in with the provider failed. Pages show a sentence for each.
type Problem string

// The problems.
const (
	Away       Problem = "away"       // the provider cannot be asked
	Busy       Problem = "busy"       // too many are signing in at once
	Lost       Problem = "lost"       // the answer is not for this browser, is too old, or has counted
	Refused    Problem = "refused"    // the provider says no
	Untrusted  Problem = "untrusted"  // what the provider answers is not in order
	NoEmail    Problem = "no_email"   // the provider tells none that can be used
	Unverified Problem = "unverified" // the provider has not verified the email
	Operator   Problem = "operator"   // an operator has the email
	Unknown    Problem = "unknown"    // nobody here has the email, and it is not invited
	Disabled   Problem = "disabled"   // the user may not sign in
	Other      Problem = "other"      // the user is linked with another subject of the provider
	Taken      Problem = "taken"      // the subject belongs to another user
	SetUpFirst Problem = "set_up"     // nobody has set this installation up
	SignedOut  Problem = "signed_out" // who wanted to link is not signed in any more
	Failed     Problem = "failed"     // something is wrong here
	Linked     Problem = "linked"     // none: the provider is linked
)

// Refusal is an error with a Problem. Its cause is for the log.
type Refusal struct { //nolint:errname // what a person is told
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

// Refused reports whether the person was refused, and not held up by something that fails.
func (r *Refusal) Refused() bool {
	return r.Problem != Away && r.Problem != Busy && r.Problem != Failed
}

func refuse(p Problem) error { return &Refusal{Problem: p} }

func refuseFor(p Problem, cause error) error { return &Refusal{p, cause} }

// ProblemOf is the problem of an error; Failed for an error without one.
func ProblemOf(err error) Problem {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Problem
	}
	return Failed
}
