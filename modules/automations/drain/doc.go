// Package drain lets go, or cancels, live runs of whole automations in the background: in
// transactions of 1,000 runs, so that a million of them keep nobody waiting.
//
// Whoever activates, pauses or archives an automation only writes down what is to be done
// (automations.draining). Any process does it, goes on where another one died, and takes the
// note away when nothing is left. While runs are to be cancelled, no step of the automation
// begins.
//
// Runs that came due while their automation was held are parked. A claim may park a run at the
// very moment at which the automation is let go, so parked runs are looked for by themselves
// too: the partial index of parked work holds nothing in ordinary times.
package drain
