// Package contacts erases the data of mail recipients.
package contacts
