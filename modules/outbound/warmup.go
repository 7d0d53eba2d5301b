package outbound

// warmup is how many deliveries may begin from an address on each day of its warm-up.
//
// Receivers judge an address that they do not know by its first days: volume that
// comes at once is what a hijacked machine sends. They publish no figures. These are
// our own: a cautious doubling, more or less, from few to a hundred thousand. The operator
// tunes it: an address that is deferred more as it grows is paused for a while, one
// that needs no warming is added warm.
var warmup = []int64{50, 100, 500, 1_000, 5_000, 10_000, 20_000, 40_000, 70_000, 100_000}

// allowanceOn is what an address may send on a day of its warm-up, the first being day
// 0; warm when the warm-up is over.
func allowanceOn(day int) (limit int64, warm bool) {
	if day >= len(warmup) {
		return 0, true
	}
	return warmup[max(day, 0)], false
}
