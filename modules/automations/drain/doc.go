// Package drain releases or cancels the live runs of whole automations in the background, in transactions of
// 1,000 runs, so that even a million runs delay nothing else.
//
// Activating, pausing or archiving an automation only records the pending work (automations.draining). Any
// process does it, continues after another one died, and clears the record when nothing is left. While runs are
// being cancelled, no step of the automation begins.
//
// Runs that became due while their automation was held are parked. A claim may park a run at the very moment
// when its automation is released, so this package also searches for parked runs without such a record. The
// partial index of parked work is normally empty.
package drain
