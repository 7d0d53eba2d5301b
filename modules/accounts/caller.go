package accounts

import (
	"slices"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Caller is who makes a request: a key, or a person in a session.
type Caller struct {
	AccountID string // empty: a person who belongs to no account
	KeyID     string
	Scope     rights.Scope
	Suspended bool     // the account, which may then do all but send
	DomainIDs []string // the domains that the key is limited to; empty is all. Not to be changed.
	Person    *Someone // nil: a key calls. Not to be changed.

	Creator *rights.Creator // who created the key, as they are now; nil: the operator of the installation did
}

// Authorize refuses an operation that the caller's scope or role does not allow, and
// sending for a suspended account.
func (c Caller) Authorize(op rights.Operation) error {
	if err := c.authorize(op); err != nil {
		return err
	}
	if c.Suspended && op == rights.Send {
		return Suspended()
	}
	return nil
}

func (c Caller) authorize(op rights.Operation) error {
	switch {
	case c.Person != nil:
		return c.Person.authorize(op, c.AccountID != "")
	case op == rights.Person || op == rights.Operate:
		return fault.Forbiddenf(fault.CodeInsufficientScope, "This operation is for people who are signed in, not for API keys")
	case !c.Scope.Allows(op):
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"This API key has the scope %q, which does not allow this operation", c.Scope)
	case c.Creator == nil || c.Creator.Allows(op):
		return nil
	case c.Creator.Former:
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"The person who created this API key has left the team: it can only send, and read what was sent. Create another key")
	}
	return fault.Forbiddenf(fault.CodeInsufficientScope,
		"This API key was created by a member with the role %q, which does not allow this operation", c.Creator.Role)
}

// May reports whether the caller's scope or role allows an operation, also where the account is suspended.
func (c Caller) May(op rights.Operation) bool { return c.authorize(op) == nil }

// Reaches refuses an operation that covers more than the domains that the key is limited to. What is about
// one domain, or mail of one, is judged with [Caller.MayUseDomain].
func (c Caller) Reaches(operation string) error {
	if c.IsLimited() && rights.ReachOf(operation) == rights.WholeAccount {
		return fault.Forbiddenf(fault.CodeInsufficientScope, "This API key is limited to some domains, and this operation covers the whole account")
	}
	return nil
}

// Follows reports whether the caller may read what an operation lists from a record that points to it.
func (c Caller) Follows(right rights.Operation, operation string) bool {
	return c.Authorize(right) == nil && c.Reaches(operation) == nil
}

// IsLimited reports whether a key is limited to some domains.
func (c Caller) IsLimited() bool { return len(c.DomainIDs) > 0 }

// OtherDomain is what a key is told that is limited to other domains than what it wants to touch.
func OtherDomain() *fault.Error {
	return fault.Forbiddenf(fault.CodeInsufficientScope, "This API key is limited to other domains")
}

// Can lists what the caller may do.
func (c Caller) Can() (list []rights.Operation) {
	for _, op := range rights.Operations() {
		if c.Authorize(op) == nil {
			list = append(list, op)
		}
	}
	return list
}

// Suspended is what a suspended account is told when it sends.
func Suspended() *fault.Error {
	return fault.Forbiddenf(fault.CodeAccountSuspended, "This account is suspended and cannot send; contact the operator of this service")
}

// MayUseDomain tells whether the key may send from the domain, and touch its mail.
func (c Caller) MayUseDomain(domainID string) bool {
	return len(c.DomainIDs) == 0 || slices.Contains(c.DomainIDs, domainID)
}

// ConfirmedFor is how long after a password, a passkey or a code a session may do what is dangerous.
const ConfirmedFor = 10 * time.Minute

// Someone is a person who is signed in.
type Someone struct {
	UserID    string
	SessionID string
	Email     string
	Name      string
	Role      rights.Role // in the account of the request; empty: not a member
	Operator  bool        // runs the installation

	SecondFactor bool      // one was given at sign-in
	SetUpFirst   bool      // the account wants a second factor, and this session has none
	ConfirmedAt  time.Time // by the clock of this process
}

func (p *Someone) authorize(op rights.Operation, member bool) error {
	switch {
	case op == rights.Person:
		return nil
	case !member && op != rights.Operate:
		return fault.Forbiddenf(fault.CodeInsufficientRole, "You belong to no team yet: accept an invitation, or make a team")
	case p.SetUpFirst:
		return fault.Forbiddenf(fault.CodeSecondFactorRequired,
			"This team wants a second factor of every member: set up an authenticator app or a passkey, then sign in with it")
	case op == rights.Operate && p.Operator:
		return nil
	case op == rights.Operate:
		return fault.Forbiddenf(fault.CodeInsufficientRole, "This operation is for operators of the installation")
	case !p.Role.Allows(op):
		return fault.Forbiddenf(fault.CodeInsufficientRole, "Your role in this team is %q, which does not allow this operation", p.Role)
	}
	return nil
}

// Confirmed refuses a person who has given no password, passkey or code of late. Keys are not
// asked.
func (c Caller) Confirmed() error {
	if c.Person == nil || time.Since(c.Person.ConfirmedAt) < ConfirmedFor {
		return nil
	}
	return fault.Forbiddenf(fault.CodeConfirmationRequired, "Confirm that it is you: give your password, a code or a passkey again")
}

// ID is the key's, or the person's.
func (c Caller) ID() string {
	if c.Person != nil {
		return c.Person.UserID
	}
	return c.KeyID
}

// sessionRate is how many requests a second one session may make. They are counted apart from the
// account's, whose keys are for programs.
const sessionRate = 20

// Counted gives what the caller's requests are counted for: its account, or its session.
func (c Caller) Counted(a Account) Account {
	if c.Person != nil {
		a.ID, a.Plan.RequestsPerSecond = c.Person.SessionID, sessionRate
	}
	return a
}
