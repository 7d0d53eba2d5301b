// Package doctor checks the environment of an installation: DNS records, reverse names, port 25 in both
// directions, certificates, the clock, disks, the settings of the database and the master key.
//
// Each check returns a Finding: what was found, what was expected, and what to do. A check changes nothing.
// Conditions that cannot be determined are reported with level Skipped, and do not count as healthy.
//
// The command `postrider doctor` prints the findings; a service logs the problems after its start, repeats
// the checks, and reports their number in GET /readyz.
//
// # Levels
//
//   - Error: it causes mail to be lost, rejected or not accepted.
//   - Warning: it works, but something is at risk or will break.
//   - Skipped: it could not be checked from here.
//   - OK.
//
// # Addresses
//
// Receivers see the addresses from which mail is sent. These are the ones in Config, or else the public ones
// of this machine. Behind a NAT router neither may be known, and checks that require them report this.
package doctor
