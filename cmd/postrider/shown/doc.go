// Package shown defines the JSON that commands print about accounts, billing and queues.
package shown
