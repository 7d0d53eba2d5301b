// Package account serves the caller's account and its credentials: API keys and SMTP credentials.
package account
