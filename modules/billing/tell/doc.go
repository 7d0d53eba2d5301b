// Package tell sends mail to the people who pay for an account (owners, and members with the role billing)
// about approached and reached limits, failed payments and changed plans. Each mail is sent once per person,
// kind and period. The transaction that stores a mail also records that it was sent.
package tell
