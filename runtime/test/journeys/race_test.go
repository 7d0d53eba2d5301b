//go:build race

package journeys_test

import "time"

// contestNoise is higher here: the race detector makes the work on a thousand connections per second five to
// ten times slower, and the honest user waits for a processor.
const contestNoise = 250 * time.Millisecond
