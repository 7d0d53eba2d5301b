// Package timeseries divides time into periods, and sorts rows into them.
//
// A query has a range, an interval and a time zone. Its axis is the list of periods that cover the range, by
// the calendar and the clock of the zone: a day may have 23 hours, and empty periods are included. Figures
// counted per quarter of an hour, hour and day (UTC) can be combined for any axis: Grain returns the interval
// to use, and GrainRanges the combination with the fewest rows.
package timeseries
