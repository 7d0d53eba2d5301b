package webhooks

import (
	"slices"
	"time"
)

// Retries returns the pauses before the second, third, … attempt of a delivery. The
// document of the API publishes them.
func Retries() []time.Duration { return slices.Clone(waits) }
