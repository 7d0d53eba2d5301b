// Package follow implements `postrider listen`. It reads the event stream of an account, prints each event,
// and forwards it to a developer's server as a signed webhook.
package follow
