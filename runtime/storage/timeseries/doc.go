// Package timeseries divides time into the periods that an answer is about, and puts rows into them.
//
// A question has a range, an interval and a zone. Its axis is the periods that the range lies in, by the
// calendar and the clock of the zone: a day may have 23 hours, and periods in which nothing happened are
// there. What is counted by quarters of an hour, hours and days (UTC) can be put together to any axis:
// Grain says of which one, and Stretches of the fewest.
package timeseries
