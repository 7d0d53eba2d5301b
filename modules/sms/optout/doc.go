// Package optout keeps the numbers whose owners have said STOP. They are found by keyed hashes of the
// number, so that a number that was erased is still known. START takes an opt-out back.
package optout
