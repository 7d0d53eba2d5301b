// Package people is who belongs to the caller's account in the API: members, invitations, and the
// audit log of what they did.
package people
