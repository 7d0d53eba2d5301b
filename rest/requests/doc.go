// Package requests is the log of the API in the API: what an account's keys and people asked of it.
package requests
