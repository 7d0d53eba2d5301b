// Package simulation plays one run of an automation on a virtual clock, with the machine that
// live runs use. Nothing is stored and nothing is sent: waits take no time, effects are
// performed by a function that the caller gives, and events arrive when the caller says.
//
// The records of a simulated run are those that a live run would have, if every step began
// at the moment at which it was due.
package simulation
