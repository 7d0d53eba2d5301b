// Package drain releases or cancels the live runs of whole automations in the background, in transactions
// of 1,000 runs, so that a million runs delay nothing else.
//
// Activating, pausing or archiving an automation only notes the pending work (automations.draining). Any
// process does it, continues where another one died, and removes the note when nothing is left. While
// runs are being cancelled, no step of the automation begins.
//
// Runs that came due while their automation was held are parked. A claim may park a run at the very
// moment its automation is released, so this package also looks for parked runs without a note: the
// partial index of parked work is normally empty.
package drain
