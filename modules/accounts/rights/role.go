package rights

import "slices"

// Role defines what a member of an account may do.
type Role string

// The roles.
const (
	RoleOwner     Role = "owner"
	RoleAdmin     Role = "admin"
	RoleDeveloper Role = "developer"
	RoleBilling   Role = "billing"
	RoleViewer    Role = "viewer"
)

// Roles lists the roles, widest first.
func Roles() []Role { return []Role{RoleOwner, RoleAdmin, RoleDeveloper, RoleBilling, RoleViewer} }

var rights = map[Role][]Operation{
	RoleOwner:     {Read, ReadSent, Send, Write, ReadAccount, Settings, Team, ReadBilling, Billing, Own, Person},
	RoleAdmin:     {Read, ReadSent, Send, Write, ReadAccount, Settings, Team, Person},
	RoleDeveloper: {Read, ReadSent, Send, Write, ReadAccount, Person},
	RoleBilling:   {ReadAccount, ReadBilling, Billing, Person},
	RoleViewer:    {Read, ReadSent, ReadAccount, Person},
}

// Allows reports whether the role permits operations of the kind. An unknown role allows nothing.
func (r Role) Allows(op Operation) bool { return slices.Contains(rights[r], op) }

// IsKnown reports whether the role exists.
func (r Role) IsKnown() bool { return rights[r] != nil }

// CanGrant reports whether a member with this role may grant or remove the other role. Owners may grant every
// role, admins every role except owner.
func (r Role) CanGrant(other Role) bool {
	return other.IsKnown() && (r.Allows(Own) || r.Allows(Team) && other != RoleOwner)
}
