package accounts

import (
	"slices"

	"github.com/postrider/postrider/runtime/fault"
)

// Scope says which operations a key allows.
type Scope string

// The scopes.
const (
	ScopeFull    Scope = "full"
	ScopeSending Scope = "sending"
	ScopeRead    Scope = "read"
)

// Scopes lists them, widest first.
func Scopes() []Scope { return []Scope{ScopeFull, ScopeSending, ScopeRead} }

// Operation is the kind of a request, as far as scopes tell kinds apart.
type Operation int

// The kinds of operations.
const (
	Write    Operation = iota // changes something: the widest right, so the zero value
	Read                      // reads anything but emails and events
	ReadSent                  // reads emails or events
	Send                      // submits an email, a batch or an event
)

// Allows tells whether the scope permits operations of the kind. An unknown
// scope or kind allows nothing.
func (s Scope) Allows(op Operation) bool {
	switch s {
	case ScopeFull:
		return op >= Write && op <= Send
	case ScopeSending:
		return op == Send || op == ReadSent
	case ScopeRead:
		return op == Read || op == ReadSent
	default:
		return false
	}
}

// Caller is who makes a request.
type Caller struct {
	AccountID string
	KeyID     string
	Scope     Scope
	Suspended bool     // the account, which may then do all but send
	DomainIDs []string // the domains the key may send from; empty is all. Not to be changed.
}

// Authorize refuses an operation that the caller's scope does not allow, and
// sending for a suspended account.
func (c Caller) Authorize(op Operation) error {
	if !c.Scope.Allows(op) {
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"This API key has the scope %q, which does not allow this operation", c.Scope)
	}
	if c.Suspended && op == Send {
		return Suspended()
	}
	return nil
}

// Suspended is what a suspended account is told when it sends.
func Suspended() *fault.Error {
	return fault.Forbiddenf(fault.CodeAccountSuspended, "This account is suspended and cannot send; contact the operator of this service")
}

// MayUseDomain tells whether the key may send from the domain.
func (c Caller) MayUseDomain(domainID string) bool {
	return len(c.DomainIDs) == 0 || slices.Contains(c.DomainIDs, domainID)
}
