package templates

import "time"

// The limits of a template. Package language has the limits of its sources, its variables and of a render.
const (
	MaxName     = 200 // characters
	MaxSubject  = 998 // characters
	MaxCategory = 100 // characters
	MaxReplyTo  = 10

	// CacheTTL is how long another process may use an older version.
	CacheTTL = time.Second
)
