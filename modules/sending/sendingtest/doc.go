// Package sendingtest is what the tests of the rooms of module sending share: a database and
// the runtime parts over it, neighbour modules that answer what a test wants, and a
// receiving server that a test scripts. It knows no room; package rooms, below it, does.
package sendingtest
