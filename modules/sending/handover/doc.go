// Package handover passes recipients from acceptance to delivery within a process, without a query in between.
//
// Before recipients are stored, delivery is asked which of them it would claim now (Offer). Acceptance stores these
// as claimed, with their attempts, in its own transaction, and starts their deliveries after the commit (Offer.Begin).
// All others are stored as due, and a claim finds them. A claim made in this way has a lease, a fencing number and an
// attempt row like any other, so a process that dies loses nothing.
//
// The package contains only what both sides share, because the tests of delivery need acceptance.
package handover
