// Package billing is what accounts pay for: which plan, by which card, how much beyond it.
//
// # Words
//
// Billing is on when the settings of a payment provider (Stripe) are there. While it is off, plans are the
// operator's to give, nothing is dialled, and usage is shown all the same.
//
// A customer is what the provider calls an account. A subscription is a plan that a customer pays for. An
// entitlement is what follows of all that for the account: its plan, whether a payment method is on file,
// whether a payment is overdue.
//
// # The provider is asked, never believed
//
// An event of the provider says only whom to ask about: it sets when the customer is due (event.go). A worker
// then reads the customer, its cards and all its subscriptions, and stores what it saw and what follows of it in
// one transaction, under a fencing number (sync.go). So order, age and repetition of events cannot matter. Each
// customer is asked about once a day as well, and shortly after each change that we made ourselves: an endpoint
// that was away for a week heals by itself.
//
// # Metering
//
// Emails beyond what a plan includes are told to the provider as the whole count of an hour (package metering),
// so that a repetition, or a crash between telling and noting it, changes nothing.
package billing
