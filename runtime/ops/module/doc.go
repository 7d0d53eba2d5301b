// Package module defines what a module contributes to the service as a whole, in addition to its own service.
//
// A module's Fx options add each contribution to a group, and package app uses the whole group without
// knowing which modules contributed. A disabled module contributes nothing.
//
//   - Sweep: deletes rows of its tables that become obsolete with time.
//   - PersonalData: data that it stores for an account's retention period, and about people.
//   - DropRule (of runtime/storage/db/months): when a month of a partitioned table can be dropped with its
//     rows.
//   - Health: a line of GET /readyz.
//   - Recipients: addresses that receive mail.
//   - Drain: work that must end before the HTTP server does.
//
// Metrics need no group: a module depends on the prometheus.Registerer.
//
// Nearby is for the other direction: a dependency on another module that may be disabled.
package module
