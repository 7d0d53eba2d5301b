// Package clock gives instants for times of day in a time zone, also where a change of the
// zone's offset skips or doubles them.
//
// A time of day that a change skips is the first instant after the gap. One that occurs twice
// is its first occurrence. time.Date promises neither.
//
// It also reads durations as authors write them (ISO 8601).
package clock
