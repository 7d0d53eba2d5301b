package rights

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

// Operation is the kind of a request, as far as scopes and roles tell kinds apart.
type Operation int

// The kinds of operations.
const (
	Write       Operation = iota // changes something: the zero value, so that what is forgotten is guarded
	Read                         // reads anything but emails and events
	ReadSent                     // reads emails or events
	Send                         // submits an email, a batch or an event
	ReadAccount                  // reads the account itself and what it has used
	Settings                     // changes the account itself
	Team                         // who belongs to the account, below its owners; the audit log
	ReadBilling                  // plan, usage, invoices
	Billing                      // changes plan, payment method and limits
	Own                          // owners, and what they decide alone
	Person                       // the caller's own profile, sessions and factors
	Operate                      // the installation: its accounts, plans and payments
	operations                   // how many there are
)

// Operations lists the kinds.
func Operations() []Operation {
	all := make([]Operation, operations)
	for i := range all {
		all[i] = Operation(i)
	}
	return all
}

var operationNames = [operations]string{"write", "read", "read_sent", "send", "read_account", "settings", "team", "read_billing", "billing", "own", "person", "operate"}

// String is the name of the right to it, as `viewer { can }` shows it.
func (o Operation) String() string {
	if o < 0 || o >= operations {
		return "unknown"
	}
	return operationNames[o]
}

// Allows tells whether the scope permits operations of the kind. An unknown
// scope or kind allows nothing.
func (s Scope) Allows(op Operation) bool {
	switch s {
	case ScopeFull:
		return op >= Write && op <= Settings || op == ReadBilling
	case ScopeSending:
		return op == Send || op == ReadSent
	case ScopeRead:
		return op == Read || op == ReadSent || op == ReadAccount
	default:
		return false
	}
}
