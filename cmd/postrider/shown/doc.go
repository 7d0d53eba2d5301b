// Package shown is what commands print about things: the JSON of accounts, plans and what waits.
package shown
