package rights

// Scope defines which operations a key allows.
type Scope string

// The scopes.
const (
	ScopeFull    Scope = "full"
	ScopeSending Scope = "sending"
	ScopeRead    Scope = "read"

	// ScopeOperator is the scope of operator keys. It is not a scope of API keys.
	ScopeOperator Scope = "operator"
)

// Scopes lists the scopes of API keys, widest first.
func Scopes() []Scope { return []Scope{ScopeFull, ScopeSending, ScopeRead} }

// Operation is a kind of request that scopes and roles distinguish.
type Operation int

// The kinds of operations.
const (
	Write       Operation = iota // changes something; the zero value, so that an unclassified operation is protected
	Read                         // reads anything except emails and events
	ReadSent                     // reads emails or events
	Send                         // submits an email, a batch or an event
	ReadAccount                  // reads the account itself and its usage
	Settings                     // changes the account itself
	Team                         // manages members other than owners; reads the audit log
	ReadBilling                  // plan, usage, invoices
	Billing                      // changes plan, payment method and limits
	Own                          // manages owners, and makes decisions reserved for owners
	Person                       // the caller's own profile, sessions and factors
	Operate                      // the installation: its accounts, plans and payments
	operations                   // the number of kinds
)

// Operations lists the kinds.
func Operations() []Operation {
	all := make([]Operation, operations)
	for i := range all {
		all[i] = Operation(i)
	}
	return all
}

var operationNames = [operations]string{"write", "read", "read_sent", "send", "read_account", "settings", "team",
	"read_billing", "billing", "own", "person", "operate"}

// String returns the name of the right, as listed in `viewer { can }`.
func (o Operation) String() string {
	if o < 0 || o >= operations {
		return "unknown"
	}
	return operationNames[o]
}

// Allows reports whether the scope permits operations of the kind. An unknown scope or kind allows nothing.
func (s Scope) Allows(op Operation) bool {
	switch s {
	case ScopeFull:
		return op >= Write && op <= Settings || op == ReadBilling
	case ScopeSending:
		return op == Send || op == ReadSent
	case ScopeRead:
		return op == Read || op == ReadSent || op == ReadAccount
	case ScopeOperator: // payments and profiles belong to people
		return op == Operate || RoleOwner.Allows(op) && op != Billing && op != Person
	default:
		return false
	}
}
