// Package refusal defines the errors that callers see: codes and messages, and for a defect only the
// request ID.
package refusal
