// Package machine decides the next action of an automation run. It uses no clock, database or network, so live
// runs, dry runs, simulations and tests share it.
//
// A Program is a definition whose expressions and Liquid are compiled. Advance takes a state and an input: the
// run has started, a timer fired, an event arrived, or an effect is done. It returns the next state, the steps
// that ended, and what must happen now: an effect, a wait, or nothing if the run has ended.
//
// Steps that need nothing external (conditions, branches, splits) are taken within one call. Targets only point
// forward, so a call takes each step at most once.
//
// The caller performs the effect and passes its result to Advance. When a wait for an event begins, the caller
// searches for a matching earlier event of the person.
package machine
