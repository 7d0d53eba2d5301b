// Package refusal says what callers read of errors: codes and sentences, and of a defect no more than the id of
// the request.
package refusal
