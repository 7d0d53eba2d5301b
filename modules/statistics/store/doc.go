// Package store keeps rows of statistics: those of the latest weeks in statistics_days, one for each day,
// and older ones in statistics_months, one for each month.
//
// # Words
//
// A row (rollup.Row) is what one account has of one kind and key. Day rows have a chunk of figures and one
// of latencies for each placement, by quarters of an hour. They are read, merged and written again when
// facts are counted; that changes no index. Month rows are written once, when the month has been over for
// Settle; what is counted for the month later is added to them now and then. They have the same by hours
// and by days too, where that is shorter, so that a year is read from few bytes.
//
// # How many rows there are
//
// Tags and recipients' domains may be as many as emails, so a day keeps a few hundred of each: the
// largest. Others are not known by their name; the rows of the kind for all of them together
// (rollup.Kind.Whole) have them too. Up to Limit.Most rows everything is exact. Beyond it the day is
// thinned: the largest Limit.Keep rows stay, and half as many of the others, chosen at random. One of
// those that goes on growing is larger than the others at the next time and stays, so that a domain which
// matters is known by its name from soon after it begins to.
//
// # Who writes at the same time
//
// Apply is called with the mark of statistics held, and by keepers of one account one after the other
// (package statistics), so no two of them change one row. Packing takes day rows away meanwhile: a row
// that is gone is begun again.
package store
