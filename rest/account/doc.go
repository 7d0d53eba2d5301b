// Package account is the caller's own account in the API, and the credentials that act for
// it: API keys and SMTP credentials.
package account
