// Package settings keeps what each account has set for its text messages: the provider with its
// secrets, the countries and the cap for a day. It makes the provider that a message goes by, which
// is the account's own or the operator's (POSTRIDER_SMS).
//
// Secrets are sealed. They stay while the provider and its address stay the same, and are needed
// anew for another address.
package settings
