// Package simulation plays one run of an automation on a virtual clock, with the machine that live runs
// use. It stores and sends nothing: waits take no time, the caller's function replaces effects, and
// events arrive at the times the caller chooses.
//
// The records are those of a live run in which every step began exactly when it was due.
package simulation
