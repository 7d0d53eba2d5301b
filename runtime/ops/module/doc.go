// Package module has what a module of the product gives to the whole beside its service.
//
// A module's Fx options hand each contribution to a group, and the assembly takes all of
// the group without knowing whom they are from. A module that is off gives nothing, so
// nothing of it is left.
//
//   - Sweep: rows of its tables that grow old without anybody's doing.
//   - Kept: what it keeps of an account for as long as the account wants, and of a person.
//   - Unneeded (of runtime/storage/db/months): when a month of a table that is split goes with its rows.
//   - Health: a line of GET /readyz.
//   - Recipients: addresses that mail from outside may come to.
//   - Drain: what is to end before the HTTP server does.
//
// Metrics need no group: a module asks for the prometheus.Registerer.
//
// Nearby is for the other direction: a module that serves another one only when that one
// is on.
package module
