package outbound

// warmup is the number of deliveries that may begin from an address on each day of its warm-up.
//
// Receivers judge an unknown address by its first days: sudden high volume looks like a hijacked machine.
// Receivers publish no numbers, so these are our own: a cautious schedule, roughly doubling, from 50 to
// 100,000 per day. Operators can deviate from it: they can pause an address that is increasingly deferred,
// and add an address that needs no warm-up as warm.
var warmup = []int64{50, 100, 500, 1_000, 5_000, 10_000, 20_000, 40_000, 70_000, 100_000}

// allowanceOn returns the allowance of an address on a day of its warm-up, starting at day 0. warm is true
// after the warm-up.
func allowanceOn(day int) (limit int64, warm bool) {
	if day >= len(warmup) {
		return 0, true
	}
	return warmup[max(day, 0)], false
}
