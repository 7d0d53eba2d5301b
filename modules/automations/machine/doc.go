// Package machine says what a run of an automation does next. It reads no clock, no database
// and no network: live runs, dry runs, simulations and tests use the same machine.
//
// A Program is a definition with its expressions and its Liquid compiled. Advance takes a
// state and an input (the run has started, a timer fired, an event arrived, an effect is done)
// and gives the next state, the steps that ended on the way, and what has to happen now: an
// effect, a wait, or nothing, because the run is over.
//
// Steps that need nobody (conditions, branches, splits) are taken within one call. Targets
// only point forward, so a call ends after at most as many steps as there are.
//
// Who drives the machine performs the effect, tells Advance of its result, and looks among
// earlier events of the person when a wait for an event begins.
package machine
