// Package contacts is what the API does with people who are written to: it erases them.
package contacts
