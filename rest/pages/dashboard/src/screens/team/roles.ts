import type { Role } from './queries.gen'

export type { Role }
export type RoleName = 'owner' | 'admin' | 'developer' | 'billing' | 'viewer'

export const roles: { key: Role; name: string; about: string }[] = [
  { key: 'OWNER', name: 'Owner', about: 'Full access, including owners and closing the account' },
  { key: 'ADMIN', name: 'Admin', about: 'Full access except owners and billing' },
  { key: 'DEVELOPER', name: 'Developer', about: 'Sends email and manages domains, webhooks, templates and keys' },
  { key: 'BILLING', name: 'Billing', about: 'Plan, usage and invoices only' },
  { key: 'VIEWER', name: 'Viewer', about: 'Read-only access' },
]

export const roleName = (role: Role) => roles.find((r) => r.key === role)?.name ?? role
export const restRole = (role: Role) => role.toLowerCase() as RoleName

// givable lists the roles that a person can grant: none above their own.
export const givable = (mine: Role | null) => (mine === 'OWNER' ? roles : mine === 'ADMIN' ? roles.filter((r) => r.key !== 'OWNER') : [])

// touches reports whether a person can change a member with a role: only owners can change owners.
export const touches = (mine: Role | null, theirs: Role) => mine === 'OWNER' || (mine === 'ADMIN' && theirs !== 'OWNER')
