// Package clock computes instants for local times in a time zone, including times that a change of the zone's
// offset skips or repeats.
//
// A skipped local time becomes the first instant after the gap, and a repeated one becomes its first
// occurrence. time.Date guarantees neither.
//
// It also parses ISO 8601 durations.
package clock
