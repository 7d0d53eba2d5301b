// Package doctor checks what an installation needs around it: DNS records, reverse names,
// port 25 in both directions, certificates, the clock, disks, the settings of the database
// and the master key.
//
// Each check gives a Finding: what was found, what was expected, and what to do. A check
// changes nothing. What cannot be found out is said as well, with level Skipped, and is not
// taken for health.
//
// The command `postrider doctor` prints the findings; a service logs those that are not
// well after its start and repeats the look, and GET /readyz tells how many there are.
//
// # Levels
//
//   - Error: mail is lost, refused or not accepted because of it.
//   - Warning: it works, and something is at risk or will break.
//   - Skipped: it could not be looked at from here.
//   - OK.
//
// # Addresses
//
// Receivers see the addresses that mail leaves from. They are those that Config names, else
// the public ones of this machine. Behind a translating router neither is known, and checks
// that need them say so.
package doctor
