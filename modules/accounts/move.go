package accounts

import (
	"net/url"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Residence is where an account is, seen from this installation. The zero value means here.
type Residence struct {
	Frozen  bool   // a move is in progress: the account accepts no writes
	MovedTo string // base URL of the installation that has the account; "" if this one has it
	Forward bool   // requests with an API key are forwarded to MovedTo, instead of redirected
}

// moveRetry is when a client should repeat a write that a move in progress has refused.
const moveRetry = 5 * time.Second

// Check returns an error if an account cannot carry out an operation of the kind here. Nothing of an account that has
// moved can be read: it would be out of date.
func (r Residence) Check(op rights.Operation) error {
	switch {
	case op == rights.Person, op == rights.Operate:
		return nil
	case r.MovedTo != "":
		return r.ErrMoved()
	case r.Frozen && op != rights.Read && op != rights.ReadSent && op != rights.ReadAccount && op != rights.ReadBilling:
		return ErrMoving()
	}
	return nil
}

// ErrMoving returns the error for a write to an account that is being moved.
func ErrMoving() *fault.Error {
	return &fault.Error{Kind: fault.Unavailable, Code: fault.CodeAccountMoving, RetryAfter: moveRetry,
		Message: "This account is being moved to another installation and accepts no changes. Retry in 5 seconds"}
}

// ErrMoved returns the error for an account that another installation has.
func (r Residence) ErrMoved() *fault.Error {
	return fault.Conflictf(fault.CodeAccountMoved, "This account has moved to %s. Use that base URL", r.MovedTo).
		With(DetailBaseURL, r.MovedTo)
}

// MovedURL returns the URL of a request at the installation with a base URL. Its host is always that of baseURL.
func MovedURL(baseURL string, u *url.URL) string {
	at := baseURL + "/" + strings.TrimLeft(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		at += "?" + u.RawQuery
	}
	return at
}

// DetailBaseURL is the detail of CodeAccountMoved with the base URL of the installation that has the account.
const DetailBaseURL = "base_url"

// ResidenceColumns selects the residence of the account a, and ScanResidence returns the variables to scan it into.
const ResidenceColumns = `a.frozen_at IS NOT NULL AND a.moved_to IS NULL, coalesce(a.moved_to, ''), a.moved_to IS NOT NULL AND a.forward_requests`

// ScanResidence returns the variables of ResidenceColumns.
func ScanResidence(r *Residence) []any { return []any{&r.Frozen, &r.MovedTo, &r.Forward} }
