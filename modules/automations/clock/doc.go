// Package clock computes instants for times of day in a time zone, including times that a change of the
// zone's offset skips or repeats.
//
// A skipped time of day becomes the first instant after the gap, and a repeated one its first occurrence.
// time.Date guarantees neither.
//
// It also parses durations in ISO 8601 form.
package clock
