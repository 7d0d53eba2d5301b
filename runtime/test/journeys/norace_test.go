//go:build !race

package journeys_test

import "time"

// contestNoise is the time below which a ratio of two can be noise from other work on the machine.
const contestNoise = 50 * time.Millisecond
