// Package testinbox serves the mail that test mode has captured: as a list, by id, and as the next email that matches,
// for end-to-end tests.
package testinbox
