// Package billing manages what accounts pay for: their plan, their payment method, and their usage beyond the
// plan.
//
// # Terms
//
// Billing is enabled by the settings of a payment provider (Stripe). While it is disabled, the operator
// assigns plans, no connection is made, and usage is still shown.
//
// A customer is an account as the provider knows it. A subscription is a plan that a customer pays for. An
// entitlement is the result for the account: its plan, whether a payment method is on file, and whether a
// payment is overdue.
//
// # Events only trigger a sync
//
// An event of the provider only names a customer: it makes that customer due for a sync (event.go). A worker
// then reads the customer, its cards and all its subscriptions, and stores them along with the resulting
// entitlement in one transaction, under a fencing number (sync.go). The order, age and repetition of events
// therefore do not matter. Each customer is also synced once a day, and shortly after each change made here.
// An endpoint that was down for a week recovers automatically.
//
// # Metering
//
// Emails beyond what a plan includes are reported to the provider as the total of each hour (package
// metering). A repeated report, or a crash before the report is recorded, changes nothing.
package billing
