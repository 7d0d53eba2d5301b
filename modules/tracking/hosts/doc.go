// Package hosts manages the tracking hosts of senders: names below their domains that tracked links use. A host
// is set, verified by its CNAME record on request or in the background, and deleted. A verified host fails only
// after its record has been missing for a long time.
package hosts
