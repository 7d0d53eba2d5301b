package accounts

import (
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// Caller is the author of a request: an API key, an operator key, or a signed-in user.
type Caller struct {
	// AccountID is the account, or its test tenant in test mode (id.TestTenantOf). It is empty for a user without an
	// account, and for an operator key that acts for none.
	AccountID string
	KeyID     string // empty unless an API key calls
	Scope     rights.Scope
	// Permissions of the key within its scope; empty means all. Read-only. Authorize refuses a key with permissions:
	// only AuthorizeOperation knows what an operation accesses.
	Permissions []rights.Permission
	Suspended   bool // the account is suspended, so it cannot send; everything else is allowed
	Residence   Residence
	DomainIDs   []string // domains that the key is limited to; empty means all. Read-only.
	Person      *Person  // nil if an API key calls. Read-only.

	Operator *Operator // set if an operator key calls. Read-only.

	// current role of the key's creator; nil if the operator of the installation created the key
	Creator *rights.Creator

	// TestAllowed is set once it is certain that an operation works in test mode. Authorize refuses a caller in test
	// mode without it.
	TestAllowed bool
}

// IsTest reports whether the caller works in test mode.
func (c Caller) IsTest() bool { return id.IsTestTenant(c.AccountID) }

// AllowTest returns the caller for an operation with the given access in test mode. It returns an error if the
// operation does not work in the mode of the caller.
func (c Caller) AllowTest(access rights.TestAccess) (Caller, error) {
	switch {
	case c.IsTest() && access == rights.LiveOnly:
		return c, fault.Forbiddenf(fault.CodeInsufficientScope,
			"This operation is not available in test mode, because it changes or reveals the live account. Use live mode")
	case !c.IsTest() && access == rights.TestOnly:
		return c, fault.Forbiddenf(fault.CodeInsufficientScope,
			"This operation is available only in test mode. Use a test key, which begins with %s%s", KeyPrefix, testTag)
	}
	c.TestAllowed = true
	return c, nil
}

// Operator is the operator key of a request.
type Operator struct{ KeyID, Name string }

// HeaderAccount is the header that selects the account of a request with a session cookie or an operator key.
const HeaderAccount = "Postrider-Account"

// HeaderMode is the header that selects the mode of a request with a session cookie or an operator key.
const HeaderMode = "Postrider-Mode"

// Authorize returns an error if the caller's scope or role does not allow an operation, if a suspended account tries to
// send, or if the account is being moved or has moved to another installation.
func (c Caller) Authorize(op rights.Operation) error {
	if err := c.authorize(op); err != nil {
		return err
	}
	if c.Suspended && op == rights.Send {
		return ErrSuspended()
	}
	return c.Residence.Check(op)
}

// Reading returns the caller for a request that changes nothing. An account that is frozen by a move answers it,
// whatever right it requires: reading the audit log requires the right to manage the team, for example.
func (c Caller) Reading() Caller {
	c.Residence.Frozen = false
	return c
}

func (c Caller) authorize(op rights.Operation) error {
	switch {
	case c.IsTest() && !c.TestAllowed:
		return fault.Forbiddenf(fault.CodeInsufficientScope, "This is not available in test mode. Use live mode")
	case c.Person != nil:
		return c.Person.authorize(op, c.AccountID != "")
	case c.Operator != nil:
		return c.authorizeOperator(op)
	case op == rights.Person || op == rights.Operate:
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"This operation is for people who are signed in, not for API keys")
	case len(c.Permissions) > 0:
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"This API key has permissions (%s), which allow operations of the REST API only", c.listPermissions())
	case !c.Scope.Allows(op):
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"This API key has the scope %q, which does not allow this operation", c.Scope)
	case c.Creator == nil || c.Creator.Allows(op):
		return nil
	case c.Creator.Former:
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"The creator of this API key has left the team, so the key can only send and read sent emails. Create another key")
	}
	return fault.Forbiddenf(fault.CodeInsufficientScope,
		"This API key was created by a member with the role %q, which does not allow this operation", c.Creator.Role)
}

func (c Caller) authorizeOperator(op rights.Operation) error {
	switch {
	case !rights.ScopeOperator.Allows(op):
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"This operation is for people who are signed in, not for operator keys")
	case c.AccountID == "" && op != rights.Operate:
		return fault.InvalidField(HeaderAccount, "is required: an operator key acts for the account that this header names")
	}
	return nil
}

// AuthorizeOperation is Authorize for an operation that a permission allows; "" if none does.
func (c Caller) AuthorizeOperation(op rights.Operation, needed rights.Permission) error {
	if len(c.Permissions) > 0 {
		if !slices.Contains(c.Permissions, needed) {
			return fault.Forbiddenf(fault.CodeInsufficientScope,
				"This API key has permissions (%s), which do not allow this operation", c.listPermissions())
		}
		c.Permissions = nil
	}
	return c.Authorize(op)
}

func (c Caller) listPermissions() string { return strings.Join(namesOf(c.Permissions), ", ") }

// MaySend reports whether the key allows sending emails. Unlike Authorize, it ignores suspension and moves.
func (c Caller) MaySend() bool {
	c.Suspended, c.Residence, c.TestAllowed = false, Residence{}, true
	return c.AuthorizeOperation(rights.Send, rights.PermissionSend) == nil
}

// Allows reports whether the caller's scope or role allows an operation. Unlike Authorize, it ignores
// suspension.
func (c Caller) Allows(op rights.Operation) bool { return c.authorize(op) == nil }

// RequireReach returns an error if an operation covers the whole account and the key is limited to some domains.
// Operations on one domain or its mail are checked with [Caller.MayUseDomain].
func (c Caller) RequireReach(operation string) error {
	if c.IsLimited() && rights.ReachOf(operation) == rights.WholeAccount {
		return fault.Forbiddenf(fault.CodeInsufficientScope,
			"This API key is limited to some domains, and this operation covers the whole account")
	}
	return nil
}

// MayFollow reports whether the caller may read the results of an operation through a link from another
// record.
func (c Caller) MayFollow(right rights.Operation, operation string) bool {
	return c.Authorize(right) == nil && c.RequireReach(operation) == nil
}

// IsLimited reports whether a key is limited to some domains.
func (c Caller) IsLimited() bool { return len(c.DomainIDs) > 0 }

// ErrOtherDomain is the error for a key that is limited to domains other than the one it tries to use.
func ErrOtherDomain() *fault.Error {
	return fault.Forbiddenf(fault.CodeInsufficientScope, "This API key is limited to other domains")
}

// AllowedOperations lists what the caller may do.
func (c Caller) AllowedOperations() (list []rights.Operation) {
	for _, op := range rights.Operations() {
		if c.Authorize(op) == nil {
			list = append(list, op)
		}
	}
	return list
}

// ErrSuspended returns the error for a suspended account that tries to send.
func ErrSuspended() *fault.Error {
	return fault.Forbiddenf(fault.CodeAccountSuspended,
		"This account is suspended and cannot send; contact the operator of this service")
}

// MayUseDomain reports whether the key may send from the domain and access its mail.
func (c Caller) MayUseDomain(domainID string) bool {
	return len(c.DomainIDs) == 0 || slices.Contains(c.DomainIDs, domainID)
}

// ConfirmedFor is how long a session may perform sensitive operations after the user entered a password,
// passkey or code.
const ConfirmedFor = 10 * time.Minute

// Person is a signed-in user.
type Person struct {
	UserID    string
	SessionID string
	Email     string
	Name      string
	Role      rights.Role // in the account of the request; empty if the user is not a member
	Operator  bool        // runs the installation

	SecondFactor bool      // used at sign-in
	SetUpFirst   bool      // the account requires a second factor, but this session has none
	ConfirmedAt  time.Time // by the clock of this process
}

func (p *Person) authorize(op rights.Operation, member bool) error {
	switch {
	case op == rights.Person:
		return nil
	case !member && op != rights.Operate:
		return fault.Forbiddenf(fault.CodeInsufficientRole,
			"You do not belong to a team yet: accept an invitation or create a team")
	case p.SetUpFirst:
		return fault.Forbiddenf(fault.CodeSecondFactorRequired,
			"This team requires a second factor: set up an authenticator app or a passkey, then sign in with it")
	case op == rights.Operate && p.Operator:
		return nil
	case op == rights.Operate:
		return fault.Forbiddenf(fault.CodeInsufficientRole, "This operation is for operators of the installation")
	case !p.Role.Allows(op):
		return fault.Forbiddenf(fault.CodeInsufficientRole,
			"Your role in this team is %q, which does not allow this operation", p.Role)
	}
	return nil
}

// RequireConfirmation returns an error if a person has not entered a password, passkey or code recently. API keys need
// no confirmation.
func (c Caller) RequireConfirmation() error {
	if c.Person == nil || time.Since(c.Person.ConfirmedAt) < ConfirmedFor {
		return nil
	}
	return fault.Forbiddenf(fault.CodeConfirmationRequired,
		"Confirm your identity: enter your password, a code or a passkey again")
}

// ID returns the id of the key or of the user.
func (c Caller) ID() string {
	switch {
	case c.Person != nil:
		return c.Person.UserID
	case c.Operator != nil:
		return c.Operator.KeyID
	}
	return c.KeyID
}

// sessionRate is the number of requests per second allowed to one session. Sessions have their own limit; the
// limit of the account is for API keys.
const sessionRate = 20

// operatorRate is the number of requests per second that an operator key may send for all accounts together.
const operatorRate = 50

// RateAccount returns an account with the id and rate to which the caller's requests count: those of the
// account, of the session or of the operator key.
func (c Caller) RateAccount(a Account) Account {
	switch {
	case c.Person != nil:
		a.ID, a.Plan.RequestsPerSecond = c.Person.SessionID, sessionRate
	case c.Operator != nil:
		a.ID, a.Plan.RequestsPerSecond = c.Operator.KeyID, operatorRate
	}
	return a
}
