// Package optout stores the numbers whose owners replied STOP. They are looked up by keyed hashes, so that an
// erased number is still recognized. START removes an opt-out.
package optout
