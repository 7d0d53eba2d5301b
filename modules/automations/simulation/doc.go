// Package simulation plays one run of an automation on a virtual clock, with the machine that live runs use. It
// stores and sends nothing: waits take no time, a function of the caller replaces effects, and events arrive at
// times that the caller chooses.
//
// The records are those of a live run in which every step begins exactly when it is due.
package simulation
