package openid

import "errors"

// Parameter is the query parameter that carries a Problem to the sign-in page.
const Parameter = "openid"

// SignInError is the reason why a sign-in with the provider failed. The sign-in page has a sentence for each.
type SignInError string

// Problems of a sign-in with the provider.
const (
	ProviderUnavailable SignInError = "away"       // the provider is unavailable
	Busy                SignInError = "busy"       // too many concurrent sign-ins
	InvalidState        SignInError = "lost"       // the callback is for another browser, too old, or already used
	Refused             SignInError = "refused"    // the provider returned an error
	Untrusted           SignInError = "untrusted"  // the provider's response is invalid
	NoEmail             SignInError = "no_email"   // the provider sent no valid email
	Unverified          SignInError = "unverified" // the provider has not verified the email
	Operator            SignInError = "operator"   // the email belongs to an operator
	Unknown             SignInError = "unknown"    // the email has neither a user nor an invitation
	Disabled            SignInError = "disabled"   // the user is disabled
	OtherSubject        SignInError = "other"      // the user is linked to another subject of the provider
	SubjectTaken        SignInError = "taken"      // the subject belongs to another user
	SetUpFirst          SignInError = "set_up"     // the installation has no first user yet
	SignedOut           SignInError = "signed_out" // the user who started the link is no longer signed in
	Failed              SignInError = "failed"     // internal error
	Linked              SignInError = "linked"     // not a failure: the provider is linked
)

// Refusal is an error with a Problem. Its cause is only logged.
type Refusal struct { //nolint:errname // shown to users as a refusal
	Problem SignInError
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

// IsRefused reports whether the user was rejected, rather than failing temporarily or because of an internal
// error.
func (r *Refusal) IsRefused() bool {
	return r.Problem != ProviderUnavailable && r.Problem != Busy && r.Problem != Failed
}

func refuse(p SignInError) error { return &Refusal{Problem: p} }

func refuseFor(p SignInError, cause error) error { return &Refusal{p, cause} }

// ProblemOf returns the problem of an error, or Failed for other errors.
func ProblemOf(err error) SignInError {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Problem
	}
	return Failed
}
