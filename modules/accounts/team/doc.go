// Package team knows who belongs to an account, and who is invited.
//
// A user is a person, with one row per mailbox in the installation, and belongs to any number of
// accounts by memberships with a role. An account has at least one owner: its row is locked while
// roles change, so the last two owners cannot leave at once. Nobody gives a role that is above
// their own, and only owners touch owners.
//
// An invitation is open for seven days. Its token is made when its mail is written, by the module
// signin; the row keeps the SHA-256. It ends with the right of the inviter to give its role.
//
// A member who leaves takes no key along: keys belong to the account. But the person knows their secrets, so
// from then on they may only send and read what was sent, and less if the member could do less.
//
// The account's email, to which a sandboxed account may write, is the address of a member. When
// that member leaves it becomes the oldest owner's.
package team
