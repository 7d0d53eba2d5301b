// Package metering tells the payment provider how many emails an account on a metered plan has handed
// over in each hour.
//
// Hours are counted by modules/accounts once nothing can be added to them. Each hour of an account whose
// subscription is metered becomes a row of work, and what is told is the whole count of the hour, with an
// identifier of account, hour and revision. The provider keeps the newest word about an hour, so a
// repetition, a crash between telling and noting it, and a correction change nothing or put it right.
package metering
