package rights

import "slices"

// Role says what a member of an account may do.
type Role string

// The roles.
const (
	RoleOwner     Role = "owner"
	RoleAdmin     Role = "admin"
	RoleDeveloper Role = "developer"
	RoleBilling   Role = "billing"
	RoleViewer    Role = "viewer"
)

// Roles lists them, the widest first.
func Roles() []Role { return []Role{RoleOwner, RoleAdmin, RoleDeveloper, RoleBilling, RoleViewer} }

var rights = map[Role][]Operation{
	RoleOwner:     {Read, ReadSent, Send, Write, ReadAccount, Settings, Team, ReadBilling, Billing, Own, Person},
	RoleAdmin:     {Read, ReadSent, Send, Write, ReadAccount, Settings, Team, Person},
	RoleDeveloper: {Read, ReadSent, Send, Write, ReadAccount, Person},
	RoleBilling:   {ReadAccount, ReadBilling, Billing, Person},
	RoleViewer:    {Read, ReadSent, ReadAccount, Person},
}

// Allows tells whether the role permits operations of the kind. An unknown role allows nothing.
func (r Role) Allows(op Operation) bool { return slices.Contains(rights[r], op) }

// Known tells whether it is one of the roles.
func (r Role) Known() bool { return rights[r] != nil }

// MayGive tells whether a member of this role may make somebody a member of another one, or
// take that away: owners all, admins all but owners.
func (r Role) MayGive(other Role) bool {
	return other.Known() && (r.Allows(Own) || r.Allows(Team) && other != RoleOwner)
}
