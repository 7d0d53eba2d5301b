// Package requests serves the API log: the requests of an account's keys and users.
package requests
