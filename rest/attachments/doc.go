// Package attachments serves the attachments of sent and received emails by signed links. An operation of the API
// creates a link, and the link returns the file without another credential until it expires.
package attachments
