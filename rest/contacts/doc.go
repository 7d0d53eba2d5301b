// Package contacts serves the recipients of mail: the API can erase their data.
package contacts
