//go:build !race

package dashboard

// mostAllocated is how much a preview may allocate for each byte of an email.
const mostAllocated = 60
