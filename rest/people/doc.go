// Package people serves the members of the caller's account, its invitations, and its audit log.
package people
