// Package refusal defines the errors that callers see: codes and messages, but for a bug only the request ID.
package refusal
