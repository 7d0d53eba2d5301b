// Package team manages the members of accounts and their invitations.
//
// A user is a person, with one row per mailbox in the installation, and belongs to any number of accounts by
// memberships with a role. An account has at least one owner. Role changes lock the row of the account, so
// the last two owners cannot leave concurrently. Members cannot grant a role above their own, and only owners
// can change owners.
//
// An invitation is open for seven days. The signin module creates its token when it writes the email; the row
// stores the SHA-256 of the token. An invitation is revoked when its inviter may no longer grant its role.
//
// Keys belong to the account and remain when a member leaves. Because the former member knows their secrets,
// the keys may from then on only send and read sent mail, or less if the member's role permitted less.
//
// The account's email, to which a sandboxed account may send, is the address of a member. When that member
// leaves, it becomes the address of the oldest owner.
package team
