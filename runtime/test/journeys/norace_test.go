//go:build !race

package journeys_test

import "time"

// contestNoise: below it a ratio of two is noise of a machine with other work.
const contestNoise = 50 * time.Millisecond
