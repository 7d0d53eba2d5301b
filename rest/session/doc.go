// Package session serves sign-in: setup, sign-up, links, sessions, and the settings of users.
package session
