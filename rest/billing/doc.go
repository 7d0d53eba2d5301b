// Package billing serves the plan, the usage and the payments of the caller's account.
package billing
