//go:build !race

package journeys_test

import "time"

// contestNoise: below it a ratio of two times is the noise of a machine that does other
// things too.
const contestNoise = 50 * time.Millisecond
