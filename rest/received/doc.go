// Package received is the resource received emails of the API: reading them, answering
// them, and the rules that say which addresses receive.
package received
