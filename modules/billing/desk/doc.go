// Package desk is billing as the operator of an installation sees it: setting up the payment provider,
// looking whether plans here and prices there agree, and what waits or fails.
package desk
