// Package settings stores each account's settings for text messages: the provider with its secrets, the
// countries and the daily cap. It creates the provider for a message, either the account's own or the
// operator's (POSTRIDER_SMS).
//
// Secrets are sealed. They are kept while the provider and its address stay the same, and must be entered again
// for another address.
package settings
