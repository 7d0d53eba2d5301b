// Package hosts knows the hosts of senders' own, below their domains, under which tracked links
// stand: set, verified by their CNAME record at once or in the background, with the state of their
// certificate, and deleted. A verified host fails only when its record was gone for long.
package hosts
